"""`lutrin doctor`: what this machine is, and whether each part works on it."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from desktop.cli.models import row
from desktop.cli.options import common
from desktop.cli.output import notice, print_json
from desktop.core import selftest
from desktop.core.llm.hardware import machine_info
from desktop.core.llm.models import catalogue, selection
from desktop.core.llm.models.store import ModelStore
from desktop.worker import probe

if TYPE_CHECKING:
    import argparse

    from desktop.core.llm.hardware.machine_info import Machine
    from desktop.core.llm.models.store import StoredModel
    from desktop.core.selftest import Check
    from desktop.paths import Paths


def register(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parser = verbs.add_parser("doctor", help="say what this machine is and test every part")
    common(parser, nested=True)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace, paths: Paths) -> int:
    """Check everything; the exit status is 1 where something does not work."""
    machine = machine_info.survey(_accelerator())
    models = catalogue.load()
    model_store = ModelStore(paths.models, models)
    default = model_store.default(None, machine)
    recommendation = selection.recommend(models, machine)
    all_checks = [
        *selftest.checks(paths),
        ("window", _qt),
        ("worker", partial(probe.round_trip, paths)),
        *_model_checks(model_store),
    ]
    results = selftest.run(all_checks)
    report: dict[str, Any] = {
        "ok": all(check.ok for check in results),
        "machine": machine,
        "models": [row(model, recommendation.model.name) for model in model_store.models()],
        "default_model": default.name if default else None,
        "default_reason": recommendation.reason,
        "paths": {name: str(getattr(paths, name)) for name in ("data", "models", "logs")},
        "checks": results,
    }
    if args.json:
        print_json(report)
    else:
        _print(report, machine, results)
    return 0 if report["ok"] else 1


def _accelerator() -> str:
    try:
        from desktop.core.llm.hardware.accelerator import accelerator
    except (OSError, ImportError):  # a check of its own says so
        return "none"
    found = accelerator()
    return f"{found.name}, {found.free / 2**30:.1f} GiB free" if found else "none"


def _qt() -> str:
    from PySide6 import QtCore, QtGui, QtSvg, QtWidgets

    parts = (QtCore, QtGui, QtSvg, QtWidgets)
    return f"Qt {QtCore.qVersion()}, {len(parts)} modules"


def _model_checks(model_store: ModelStore) -> list[tuple[str, Any]]:
    """Load the smallest installed model and let it write a word."""
    installed = sorted(
        (model for model in model_store.models() if model.path is not None and model.installed),
        key=lambda model: model.size_bytes,
    )
    return [("model", partial(_write_a_word, installed[0]))] if installed else []


def _write_a_word(model: StoredModel) -> str:
    from desktop.core.llm.runtime.engine import Engine
    from desktop.core.llm.runtime.generation import Generation

    assert model.path is not None
    engine = Engine(model.path, context_tokens=256, threads=machine_info.survey().cores_fast)
    try:
        figures = Generation()
        prompt = engine.chat([("user", "Say hello.")])
        text = "".join(engine.generate(prompt, figures, most_tokens=8))
    finally:
        engine.close()
    return f"{model.name} wrote {text.strip()!r} at {figures.tokens_per_s:.0f} tokens/s"


def _print(report: dict[str, Any], machine: Machine, results: list[Check]) -> None:
    print(f"{machine.system}, {machine.processor}")
    print(
        f"{machine.cores_physical} cores, {machine.cores_fast} to compute with, "
        f"{machine.memory_total / 2**30:.1f} GiB of memory, "
        f"{machine.memory_available / 2**30:.1f} free, accelerator: {machine.accelerator}"
    )
    for name, path in report["paths"].items():
        print(f"{name}: {path}")
    print(f"model: {report['default_model'] or 'none yet'}. {report['default_reason']}")
    for check in results:
        print(f"{'ok  ' if check.ok else 'FAIL'} {check.name}: {check.detail}")
    if not report["ok"]:
        notice("error: Something does not work. Install Lutrin again, or report the lines above.")
