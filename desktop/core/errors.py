"""The one exception that is meant to be read by a person."""

from __future__ import annotations


class UserFacingError(Exception):
    """Something went wrong that the user can understand and act on.

    Args:
        what: What is wrong, a sentence without its full stop.
        remedy: What the user can do about it, a sentence without its full stop.
    """

    def __init__(self, what: str, remedy: str) -> None:
        super().__init__(what, remedy)
        self.what = what
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.what}. {self.remedy}."


class PasswordNeededError(UserFacingError):
    """The document is locked; it can be read once its password is given."""


class CancelledError(Exception):
    """The user stopped the work; what was done so far is kept."""


def unreadable(error: Exception) -> UserFacingError:
    """Return what an error of SQLite, in a library that opened well, means to the user."""
    return UserFacingError(
        f"The library's file can't be used ({error})",
        "Check that the disk is not full; if it is not, move library.sqlite3 out of the library's "
        "folder and add the books again",
    )
