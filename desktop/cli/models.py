"""`lutrin models`: the catalogue and what is installed; get, add and remove models.

Owns the verb's arguments and its printed form. Must not know how models are stored or fetched.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from desktop.cli.options import common
from desktop.cli.output import ProgressLine, notice, print_json
from desktop.core.llm.hardware.machine_info import survey
from desktop.core.llm.models.catalogue import load
from desktop.core.llm.models.download import fetch
from desktop.core.llm.models.selection import recommend
from desktop.core.llm.models.store import ModelStore

if TYPE_CHECKING:
    import argparse

    from desktop.core.llm.models.catalogue import Catalogue
    from desktop.core.llm.models.store import StoredModel
    from desktop.paths import Paths


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser("models", help="list, get, add and remove language models")
    common(parser, nested=True)
    parser.set_defaults(run=run, action="list")
    actions = parser.add_subparsers(metavar="ACTION")
    listing = actions.add_parser("list", help="show what there is (the default)")
    getting = actions.add_parser("get", help="download a model of the list")
    getting.add_argument("name", metavar="NAME")
    adding = actions.add_parser("add", help="add a model file of your own")
    adding.add_argument("file", metavar="FILE.gguf")
    removing = actions.add_parser("remove", help="delete a model's file")
    removing.add_argument("name", metavar="NAME")
    for name, action in (
        ("list", listing), ("get", getting), ("add", adding), ("remove", removing),
    ):  # fmt: skip
        common(action, nested=True)
        action.set_defaults(action=name)


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Do what was asked, then print the models.

    Raises:
        UserFacingError: if it can't be done.
    """
    catalogue = load()
    model_store = ModelStore(paths.models, catalogue)
    if args.action == "get":
        _get(args.name, paths.models, catalogue)
    elif args.action == "add":
        _add(Path(args.file).expanduser(), model_store)
    elif args.action == "remove":
        model_store.remove(args.name)
        notice(f"removed {args.name}")
    recommendation = recommend(catalogue, survey())
    best = recommendation.model.name
    if args.json:
        print_json({"models": [row(model, best) for model in model_store.models()]})
    elif args.action == "list":
        _print_models(model_store.models(), best)
        print(f"\n{recommendation.reason}")
    return 0


def _get(name: str, folder: Path, catalogue: Catalogue) -> None:
    model = catalogue.get(name)
    with ProgressLine(model.name) as line:
        path = fetch(model, folder, progress=line, cancelled=lambda: False)
    notice(f"{model.title} is installed: {path}")


def _add(file: Path, model_store: ModelStore) -> None:
    with ProgressLine(file.name) as line:
        model = model_store.add(
            file,
            progress=line,
            cancelled=lambda: False,
            available_memory=survey().memory_available,
        )
    notice(f"{file.name} is installed as {model.name}")


def row(model: StoredModel, best: str) -> dict[str, Any]:
    """Return a model as the JSON of `models` and of `doctor` has it."""
    return {
        "name": model.name,
        "installed": model.installed,
        "size_bytes": model.size_bytes,
        "context": model.context,
        "path": str(model.path) if model.path else None,
        "recommended": model.name == best,
    }


def _print_models(models: list[StoredModel], best: str) -> None:
    width = max(len(model.name) for model in models)
    for model in models:
        state = "installed" if model.installed else "not installed"
        mark = ", recommended" if model.name == best else ""
        print(f"{model.name:<{width}}  {model.size_bytes / 1e6:>7,.0f} MB  {state}{mark}")
        print(f"    {model.description}")
        if model.note:
            print(f"    {model.note}.")
