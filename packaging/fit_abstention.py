"""Fit when an answer is given and when "the book does not say", and write it as data.

    python packaging/fit_abstention.py REPORT.json [REPORT.json ...] --model NAME

Each report is what `lutrin eval --json` printed for a file of questions with and without answers
in the book; a question of another book is one without (write it with empty "pages"). The signs of
every answer that a model wrote, see `answering.attribution.abstention.signs`, are weighed by
logistic regression with an L2 penalty (Newton's method), and the threshold is the one at which
most answerable questions are answered while at most `--false-answers` of the others are.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from desktop.core.library.embedding import MiniLM  # noqa: E402

TARGET = ROOT / "resources" / "calibration" / "abstention.toml"
ANY = "*"
OF_THE_MODEL = ("certain", "self_evaluation")
"""Signs that mean another thing with another model: the entry for any model goes without them."""
PENALTY = 1.0
FOLDS = 5


def main() -> None:
    """Fit, print what it gives on rows left out of the fit, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", nargs="+", type=Path)
    parser.add_argument("--model", required=True)
    parser.add_argument("--false-answers", type=float, default=0.1)
    args = parser.parse_args()
    rows = [row for path in args.reports for row in json.loads(path.read_text())["per_question"]]
    names = sorted({name for row in rows for name in row["signs"]} - {"founded"})
    general = [name for name in names if name not in OF_THE_MODEL]
    for model, signs in ((ANY, general), (args.model, names)):
        write(model, *calibrate(rows, signs, args.false_answers))


def calibrate(
    rows: list[dict[str, Any]], names: list[str], allowed: float
) -> tuple[dict[str, float], float]:
    """Return the weights of some signs, with "bias", and the threshold; print how they do."""
    written = [row for row in rows if row["signs"].get("founded")]
    refused = [row for row in rows if not row["signs"].get("founded")]
    values = np.array([[row["signs"][name] for name in names] for row in written])
    answerable = np.array([row["type"] != "unanswerable" for row in written], dtype=float)
    held_out = np.empty(len(written))
    for fold in range(FOLDS):
        test = np.arange(len(written)) % FOLDS == fold
        held_out[test] = probability(values[test], fit(values[~test], answerable[~test]))
    already = sum(row["type"] == "unanswerable" for row in refused)
    threshold = choose(held_out, answerable, already, allowed)
    weights = fit(values, answerable)
    for name, chances in (("held out", held_out), ("fitted", probability(values, weights))):
        print(name, outcome(chances >= threshold, answerable, refused))
    return dict(zip([*names, "bias"], map(float, weights), strict=True)), threshold


def fit(values: np.ndarray, answerable: np.ndarray) -> np.ndarray:
    """Return weights and, last, the constant: logistic regression, classes weighed equally."""
    table = np.hstack([values, np.ones((len(values), 1))])
    share = answerable.mean()
    importance = np.where(answerable == 1, 0.5 / share, 0.5 / (1 - share))
    penalty = PENALTY * np.eye(table.shape[1])
    penalty[-1, -1] = 1e-6
    weights = np.zeros(table.shape[1])
    for _ in range(50):
        chance = 1 / (1 + np.exp(-table @ weights))
        gradient = table.T @ (importance * (chance - answerable)) + penalty @ weights
        curvature = table.T @ (table * (importance * chance * (1 - chance))[:, None]) + penalty
        weights -= np.linalg.solve(curvature, gradient)
    return weights


def probability(values: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return for each row how likely it is that the book answers."""
    chances: np.ndarray = 1 / (1 + np.exp(-(values @ weights[:-1] + weights[-1])))
    return chances


def choose(chances: np.ndarray, answerable: np.ndarray, already: int, allowed: float) -> float:
    """Return the lowest threshold that lets at most a share of the unanswerable through."""
    wrong = np.sort(chances[answerable == 0])[::-1]
    let_through = int(allowed * (len(wrong) + already))
    return float(wrong[let_through] + 1e-4) if let_through < len(wrong) else 0.0


def outcome(given: np.ndarray, answerable: np.ndarray, refused: list[dict[str, Any]]) -> str:
    """Return the two rates, over all questions asked."""
    none = sum(row["type"] == "unanswerable" for row in refused)
    answers, others = answerable == 1, answerable == 0
    false_answers = given[others].sum() / max(1, others.sum() + none)
    false_refusals = ((~given[answers]).sum() + len(refused) - none) / max(
        1, answers.sum() + len(refused) - none
    )
    return f"false answers {false_answers:.3f}, false refusals {false_refusals:.3f}"


def write(model: str, fitted: dict[str, float], threshold: float) -> None:
    """Put an entry in the place of the one for this model; the one for any comes last."""
    head, *entries = TARGET.read_text(encoding="utf-8").split("[[fit]]")
    embedder = ANY if model == ANY else MiniLM.identity
    mine = (
        f'\nembedder = "{embedder}"\nmodel = "{model}"\nbias = {fitted.pop("bias"):.4f}\n'
        f"threshold = {threshold:.4f}\n\n[fit.weights]\n"
        + "".join(f"{name} = {value:.4f}\n" for name, value in fitted.items())
    )
    others = [entry.rstrip() + "\n" for entry in entries if f'model = "{model}"' not in entry]
    placed = [*others, mine] if model == ANY else [mine, *others]
    TARGET.write_text(head + "\n".join(f"[[fit]]{entry}" for entry in placed), encoding="utf-8")
    print(f"wrote {TARGET.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
