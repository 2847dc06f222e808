from __future__ import annotations

import pickle

from desktop.core.errors import PasswordNeededError, UserFacingError


def test_an_error_says_what_and_what_to_do() -> None:
    error = UserFacingError("It is locked", "Give its password")
    assert str(error) == "It is locked. Give its password."
    assert (error.what, error.remedy) == ("It is locked", "Give its password")


def test_an_error_goes_over_a_process_boundary() -> None:
    error = pickle.loads(pickle.dumps(PasswordNeededError("a", "b")))
    assert isinstance(error, PasswordNeededError)
    assert str(error) == "a. b."
