"""An answer that is a list from the book's structure; no model is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from desktop.core.records import Answer, Citation, Timings, Verdict

if TYPE_CHECKING:
    from desktop.core.records import Mode
    from desktop.core.retrieval.results import RetrievalResult

_HEADINGS = {
    "contents": "{n} entries of the table of contents:",
    "figures": "{n} figures:",
    "tables": "{n} tables:",
    "definitions": "{n} definitions:",
}


def listing_answer(question: str, mode: Mode, found: RetrievalResult) -> Answer:
    """Return the list that was found as an answer; each entry is cited where it stands."""
    more = sum(entry.more for entry in found.entries)
    lines = [_HEADINGS[found.listing].format(n=len(found.entries) + more), ""]
    cited: list[Citation] = []
    titles = dict(found.books)
    for entry in found.entries:
        place = f"page {entry.page}"
        marker = ""
        if entry.end > entry.start:
            cited.append(
                Citation(
                    marker=len(cited) + 1,
                    book=entry.book,
                    title=titles.get(entry.book, ""),
                    page=entry.page,
                    page_label=entry.page_label,
                    quote=entry.text,
                    start=entry.start,
                    end=entry.end,
                    verdict=Verdict.VERBATIM,
                    score=1.0,
                )
            )
            marker = f" [{len(cited)}]"
        text = " ".join(entry.text.split()).rstrip(".").replace("[", "(").replace("]", ")")
        lines.append(f"{'  ' * (entry.level - 1)}- {text}, {place}{marker}")
    if more:
        lines += ["", f"The first {len(found.entries)} are listed; there are {more} more."]
    took = round(found.retrieve_s, 3)
    return Answer(
        question=question,
        mode=mode,
        model="",
        answer="\n".join(lines),
        abstained=False,
        citations=tuple(cited),
        context=(),
        timings=Timings(retrieve_s=took, total_s=took),
        notes=("Listed from the book itself; no model was asked",),
        limits=found.limits,
    )
