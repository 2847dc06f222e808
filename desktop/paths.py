"""Where things lie: the library's folder, the models, and the files that ship with the program.

One function each, used from source, from an installed wheel and in a frozen bundle alike.
Knows nothing of what is inside the folders.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

APP = "lutrin"


@dataclass(frozen=True)
class Paths:
    """The folders one run works on.

    Attributes:
        data: The library: books, index, conversations, settings.
        models: Language models; shared by all libraries, since they are large and never change.
        logs: Log files.
    """

    data: Path
    models: Path
    logs: Path

    @property
    def books(self) -> Path:
        """One folder a book, named by the book's id, holding the copy of its file."""
        return self.data / "books"

    @property
    def catalog(self) -> Path:
        """The SQLite file of books and page texts."""
        return self.data / "library.sqlite3"

    @property
    def conversations(self) -> Path:
        """The SQLite file of conversations."""
        return self.data / "conversations.sqlite3"

    @property
    def index(self) -> Path:
        """The LanceDB folder of passages and vectors."""
        return self.data / "index"

    @property
    def states(self) -> Path:
        """Saved key/value states of language models."""
        return self.data / "states"

    @property
    def notes(self) -> Path:
        """Notes that language models took while they read books through."""
        return self.data / "notes"

    @property
    def speeds(self) -> Path:
        """How fast each language model reads on this computer, JSON."""
        return self.data / "speeds.json"

    @property
    def settings(self) -> Path:
        """The user's settings, JSON."""
        return self.data / "settings.json"

    @property
    def locks(self) -> Path:
        """Lock files that keep several processes on one library out of each other's way."""
        return self.data / "locks"

    def create(self) -> Paths:
        """Create the folders; return self."""
        for folder in (self.data, self.models, self.logs, self.books, self.locks):
            folder.mkdir(parents=True, exist_ok=True)
        return self


def choose(data_dir: str | os.PathLike[str] | None = None) -> Paths:
    """Return the folders to use: `data_dir`, else `LUTRIN_HOME`, else the platform's own place.

    `LUTRIN_MODELS` moves the models, which otherwise stay in the platform's place whichever
    library is open.
    """
    standard = platformdirs.PlatformDirs(APP, appauthor=False)
    chosen = data_dir or os.environ.get("LUTRIN_HOME")
    data = Path(chosen).expanduser().resolve() if chosen else Path(standard.user_data_dir)
    models = os.environ.get("LUTRIN_MODELS")
    return Paths(
        data=data,
        models=(
            Path(models).expanduser().resolve()
            if models
            else Path(standard.user_data_dir) / "models"
        ),
        logs=data / "logs" if chosen else Path(standard.user_log_dir),
    )


def resource(name: str) -> Path:
    """Return the path of a file under resources/.

    Raises:
        FileNotFoundError: if the installation is incomplete.
    """
    package = Path(__file__).resolve().parent
    bundle = getattr(sys, "_MEIPASS", None)
    roots = (
        [Path(bundle) / "resources"]
        if bundle
        else [package / "resources", package.parent / "resources"]
    )
    for root in roots:
        if (root / name).exists():
            return root / name
    message = f"resource {name!r} is missing; the installation is incomplete"
    raise FileNotFoundError(message)
