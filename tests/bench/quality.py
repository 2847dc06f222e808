"""Figures of finding and answering by book and type of question; writes docs/figures.md.

    python tests/bench/quality.py --data ../shared/data --library FOLDER --reports FOLDER

Each file of questions is asked with `lutrin eval --json`, whose report is kept under --reports: a
report that is there is not made again, so that a long run can be interrupted and one book be
measured anew by deleting its report. The table of what each part of finding gives is measured
afresh each time. With --retrieval-only no model is asked.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from desktop import environment, paths  # noqa: E402

environment.prepare()

import figures_page  # noqa: E402

from desktop.core.evaluation import figures, questions, scoring  # noqa: E402
from desktop.core.evaluation.run import evaluate  # noqa: E402
from desktop.core.library.library import Library  # noqa: E402
from desktop.core.library.search_filter import SearchFilter  # noqa: E402
from desktop.core.retrieval import search  # noqa: E402

FINDING = ("page_hit@1", "page_hit@5", "page_hit@10", "page_hit@50", "mrr")
ANSWERING = (
    "answer_correct", "citation_precision", "citation_on_gold_page", "citation_recall",
    "false_answer_rate", "false_refusal_rate", "ttft_s_p50", "ttft_s_p95", "total_s_p50",
)  # fmt: skip
PARTS: dict[str, dict[str, float]] = {
    "all": {},
    "full text alone": {"WINDOWS": 0, "SECTIONS": 0},
    "vectors of windows alone": {"TEXT": 0, "SECTIONS": 0},
    "without the sections": {"SECTIONS": 0},
    "exercises and indexes as good as text": {"SIDE": 1},
    "any number from one page": {"SAME_PAGE": 1},
    "no late interaction": {"LATE_INTERACTION": 0},
    "late interaction weighs 0.5": {"LATE_INTERACTION": 0.5},
    "late interaction weighs 0.9": {"LATE_INTERACTION": 0.9},
    "full text weighs 0.3": {"TEXT": 0.3, "WINDOWS": 0.6},
    "full text weighs 0.6": {"TEXT": 0.6, "WINDOWS": 0.3},
}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="has books/ and qa/")
    parser.add_argument("--library", type=Path, required=True, help="books are added to it")
    parser.add_argument("--reports", type=Path, required=True)
    parser.add_argument("--retrieval-only", action="store_true")
    parser.add_argument("--model", default="")
    args = parser.parse_args()
    args.reports.mkdir(parents=True, exist_ok=True)
    sets = [(path, book) for path in sorted((args.data / "qa").glob("*.jsonl"))
            if (book := args.data / "books" / f"{path.name.split('.')[0]}.pdf").exists()
            and "exercises" not in path.name and "imageonly" not in path.name]  # fmt: skip
    reports = {path.stem: report(path, book, args) for path, book in sets}
    sections = {
        "Finding, no language model": [
            *table(reports, FINDING),
            "",
            "### What each part gives",
            "",
            "page_hit over the plain and over the `.hard` questions of all books together.",
            "",
            *parts(sets, args.library),
        ]
    }
    if not args.retrieval_only:
        sections["Answering"] = [
            *table(reports, ANSWERING),
            "",
            "### By type of question, all books",
            "",
            *table(types(reports), ANSWERING),
            "",
            "### Answers written more than once",
            "",
            "Right answers before and after the further rounds, over the questions that took any.",
            "",
            *rounds(sets, reports),
        ]
    figures_page.put(sections)
    print("wrote docs/figures.md")


def report(path: Path, book: Path, args: argparse.Namespace) -> dict[str, Any]:
    """Return the report of `lutrin eval` on a file of questions."""
    kept = args.reports / f"{path.stem}.json"
    if not kept.exists():
        command = [sys.executable, "-m", "desktop", "eval", str(path), "--book", str(book),
                   "--data-dir", str(args.library), "--json"]  # fmt: skip
        command += ["--retrieval-only"] if args.retrieval_only else []
        command += ["--model", args.model] if args.model else []
        surroundings = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, stdout=subprocess.PIPE, env=surroundings, check=True)
        kept.write_bytes(done.stdout)
    result: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return result


def rounds(sets: list[tuple[Path, Path]], reports: dict[str, dict[str, Any]]) -> list[str]:
    """Return the table of what the further rounds of an answer give."""
    lines = ["| | n | more than one round | right before | right after |", "|---|---|---|---|---|"]
    for path, _ in sets:
        must = {q.id: q.must for q in questions.read(path) if not q.weak}
        rows = [row for row in reports[path.stem]["per_question"] if must.get(row["id"])]
        again = [row for row in rows if row.get("rounds", 1) > 1]
        before = sum(bool(scoring.correct(row["first_round"], must[row["id"]])) for row in again)
        after = sum(bool(row["correct"]) for row in again)
        if any("rounds" in row for row in rows):
            lines.append(f"| {path.stem} | {len(rows)} | {len(again)} | {before} | {after} |")
    return lines


def types(reports: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the mean of each type's figures over the files, weighed by questions."""
    kinds = sorted({kind for one in reports.values() for kind in one["by_type"]})
    result = {}
    for kind in kinds:
        rows = [one["by_type"][kind] for one in reports.values() if kind in one["by_type"]]
        result[kind] = {"n": sum(row["n"] for row in rows)}
        for name in ANSWERING:
            pairs = [(row[name], row["n"]) for row in rows if row.get(name) is not None]
            total = sum(n for _, n in pairs)
            result[kind][name] = sum(value * n for value, n in pairs) / total if total else None
    return result


def parts(sets: list[tuple[Path, Path]], folder: Path) -> list[str]:
    """Return the table of what finding gives without each of its parts."""
    library = Library(paths.choose(folder))
    ids = {Path(book.file).name: book.id for book in library.catalog.books()}
    usual = {name: getattr(search, name) for row in PARTS.values() for name in row}
    rows: dict[str, dict[str, Any]] = {}
    for label, changes in PARTS.items():
        for name, value in (usual | changes).items():
            setattr(search, name, value)
        for kind in ("plain", "hard"):
            outcomes = []
            for path, book in sets:
                if (".hard" in path.name) == (kind == "hard"):
                    where = SearchFilter((ids[book.name],))
                    asked = [q for q in questions.read(path) if q.answerable and not q.weak]
                    outcomes += evaluate(
                        asked, find=lambda q, n, w=where: search.find(library, q, where=w, limit=n)
                    )
            rows[f"{label}, {kind}"] = figures.summarise(outcomes)
    return table(rows, FINDING)


def table(rows: dict[str, dict[str, Any]], names: tuple[str, ...]) -> list[str]:
    """Return a Markdown table, a row a key."""
    lines = ["| | n | " + " | ".join(names) + " |", "|---" * (len(names) + 2) + "|"]
    for label, row in rows.items():
        cells = ["\u2013" if row.get(n) is None else f"{row[n]:.2f}" for n in names]
        lines.append(f"| {label} | {row['n']} | " + " | ".join(cells) + " |")
    return lines


if __name__ == "__main__":
    main()
