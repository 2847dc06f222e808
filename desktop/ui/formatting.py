"""Numbers, times and states as the text that the user sees. No widgets, no side effects."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from collections.abc import Sequence

    from desktop.core.answering.modes.budget import Estimate
    from desktop.core.library.prefill_progress import PrefillProgress
    from desktop.core.records import Book, Progress


def tr(text: str) -> str:
    """Return a text in the user's language."""
    return QCoreApplication.translate("Lutrin", text)


def size(count: float) -> str:
    """Return a number of bytes: "98 MB", "1.1 GB"."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    if count >= 1e6:
        return f"{count / 1e6:.0f} MB"
    return f"{max(count, 0) / 1e3:.0f} kB"


def time_left(seconds: float | None) -> str:
    """Return an estimate: "4 s left", "about 50 s left", "about 3 min left"; empty for none."""
    if seconds is None:
        return ""
    if seconds < 20:
        return tr("{n} s left").format(n=max(1, round(seconds)))
    if seconds < 90:
        return tr("about {n} s left").format(n=round(seconds / 10) * 10)
    if seconds < 5400:
        return tr("about {n} min left").format(n=round(seconds / 60))
    return tr("about {n} h left").format(n=round(seconds / 3600))


def duration(seconds: float) -> str:
    """Return a time that is not exact: "40 s", "5 min", "2 h"."""
    if seconds < 90:
        return tr("{n} s").format(n=max(10, round(seconds / 10) * 10))
    if seconds < 5400:
        return tr("{n} min").format(n=round(seconds / 60))
    return tr("{n} h").format(n=round(seconds / 3600))


def context_estimate(estimate: Estimate) -> str:
    """Return what a long context takes: its tokens, whether it fits, and the time for prefill."""
    tokens = tr("{tokens:,} tokens").format(tokens=_round(estimate.tokens))
    if estimate.known:
        return tr("{tokens}, read before: it is there at once.").format(tokens=tokens)
    most = tr("this model reads {most:,} at once here").format(most=_round(estimate.most))
    afterwards = ""
    if estimate.seconds is not None:
        afterwards = tr(" (about {time} the first time)").format(time=duration(estimate.seconds))
    if not estimate.fits and estimate.short is not None:
        text = tr(
            "{tokens}; with the {free} of memory that are free {most}, and {window:,} would need "
            "{need}. Close other programs, choose less, or read it through afterwards{time}."
        )
        free, need = size(estimate.short.free), size(estimate.short.need)
        return text.format(
            tokens=tokens,
            most=most,
            free=free,
            need=need,
            window=_round(estimate.short.window),
            time=afterwards,
        )
    if not estimate.fits:
        text = tr(
            "{tokens}; {most}. Only the pages around the best finds are read: choose less, or "
            "read it through afterwards{time}."
        )
        return text.format(tokens=tokens, most=most, time=afterwards)
    if estimate.seconds is None:
        return tr("{tokens}; {most}. It is read the first time, then it is there at once.").format(
            tokens=tokens, most=most
        )
    text = tr("{tokens}; {most}. About {time} the first time, then at once.")
    return text.format(tokens=tokens, most=most, time=duration(estimate.seconds))


def _round(count: int) -> int:
    """Return a number rounded to two significant digits."""
    return round(count, 2 - len(str(count)))


def percent(progress: Progress) -> int | None:
    """Return how far it is, 0 to 100; None where that is not known."""
    if progress.total <= 0:
        return None
    return min(100, int(100 * progress.done / progress.total))


def download_state(progress: Progress) -> str:
    """Return a download's state: "210 of 491 MB · 42 % · about 50 s left"."""
    if progress.stage == "verifying":
        return tr("Checking that the file is complete…")
    parts = [
        tr("{done} of {total}").format(done=size(progress.done), total=size(progress.total))
        if progress.total
        else size(progress.done)
    ]
    share = percent(progress)
    if share is not None:
        parts.append(f"{share} %")
    parts.append(time_left(progress.seconds_left))
    return " · ".join(part for part in parts if part)


def book_name(book: Book | None, file: str) -> str:
    """Return what a book is called."""
    return (book.title if book and book.title else Path(file).stem) or tr("Untitled")


def reading_state(done: int, total: int, left: float | None = None) -> str:
    """Return how far the reading of a file is."""
    if not total:
        return tr("Reading…")
    parts = [tr("Reading page {done:,} of {total:,}").format(done=done, total=total)]
    parts.append(time_left(left))
    return " · ".join(part for part in parts if part)


def embedding_state(done: int, total: int, left: float | None = None) -> str:
    """Return how far the embedding of a book is, which can be asked meanwhile."""
    text = tr("Ready to ask. Finding still gets better")
    if not total:
        return text + "…"
    parts = [tr("{text}: {done:,} of {total:,} passages").format(text=text, done=done, total=total)]
    parts.append(time_left(left))
    return " · ".join(part for part in parts if part)


def book_state(book: Book, progress: Progress | None, *, running: bool) -> str:
    """Return the state line of a book in the library."""
    left = progress.seconds_left if progress else None
    match book.status:
        case "reading":
            at_pages = progress is not None and progress.unit == "pages"
            done, total = book.pages_read, book.pages
            if progress is not None and at_pages:
                done, total = progress.done, progress.total
            return reading_state(done, total, left) if running else tr("Waiting for its turn")
        case "askable":
            embedding = progress is not None and progress.unit == "passages"
            done, total = book.passages_embedded, book.passages
            if progress is not None and embedding:
                done, total = progress.done, progress.total
            return embedding_state(done, total, left)
        case "paused":
            askable = book.pages and book.pages_read >= book.pages
            return tr("Paused. Ready to ask all the same") if askable else tr("Paused")
        case "failed":
            return book.error or tr("This book could not be read")
        case _:
            return tr("Ready")


def prefill_state(stored: PrefillProgress | None, running: Progress | None) -> str:
    """Return the state of a book's prefill; empty where there is none."""
    if running is not None:
        share = percent(running)
        parts = [tr("Reading ahead…") if share is None else tr("Reading ahead: {n} %")]
        parts.append(time_left(running.seconds_left))
        return " · ".join(part for part in parts if part).format(n=share)
    if stored is None:
        return ""
    if stored.complete:
        return tr("Read ahead · {size}").format(size=size(stored.bytes))
    text = tr("Read ahead: {n} % · {size}")
    return text.format(n=max(1, round(100 * stored.share)), size=size(stored.bytes))


def pages(count: int) -> str:
    """Return a number of pages."""
    return tr("1 page") if count == 1 else tr("{n:,} pages").format(n=count)


def printed(page: int, label: str) -> str:
    """Return a page with what is printed on it: "p. 57 (printed 37)"."""
    if label and label != str(page):
        return tr("p. {page} (printed {label})").format(page=page, label=label)
    return tr("p. {page}").format(page=page)


def page_range(first: int, last: int) -> str:
    """Return a run of pages."""
    if first == last:
        return tr("page {n}").format(n=first)
    return tr("pages {a}-{b}").format(a=first, b=last)


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return some names: "a, b, c and 4 more"."""
    shown = ", ".join(names[:most])
    rest = len(names) - most
    return tr("{shown} and {rest} more").format(shown=shown, rest=rest) if rest > 0 else shown
