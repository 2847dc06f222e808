"""The text of an answer and what stands under it, as Markdown and HTML: markers, sources, details.

Pure functions from records to text; no widgets.
"""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from desktop.core.records import Mode, Verdict
from desktop.ui.formatting import page_range, printed, tr

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from desktop.core.records import Answer, Citation, Limit

    Css = Callable[[str], str]

CITE = "cite:"
NEAR = "near:"
LIMIT = "limit:"
QUOTE_LENGTH = 160
NEAREST = 5
_MARKER = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\](?!\()")


def mode_name(mode: Mode) -> str:
    """Return what a mode is called."""
    names = {
        Mode.RETRIEVAL: tr("Retrieval"),
        Mode.LONG_CONTEXT: tr("Long context"),
        Mode.ADAPTER: tr("Adapter"),
    }
    return names[mode]


def with_links(answer: Answer) -> str:
    """Return the answer's Markdown with its markers as links; one without a citation stays text."""
    known = {citation.marker for citation in answer.citations}

    def link(match: re.Match[str]) -> str:
        numbers = [int(number) for number in re.split(r"\s*,\s*", match[1])]
        if not any(number in known for number in numbers):
            return match[0]
        # Thin spaces around the number make the chip wide enough to hit.
        return " ".join(
            f"[\u2009{n}\u2009]({CITE}{n})" if n in known else f"\\[{n}\\]" for n in numbers
        )

    return _MARKER.sub(link, answer.answer)


def limits(kept: Sequence[Limit]) -> str:
    """Return the filters found in the question as Markdown; each is a link that removes it."""
    chips = (
        f"[\u2009{_escaped(limit.label)}\u2009\u00d7\u2009]({LIMIT}{limit.key})" for limit in kept
    )
    return tr("Looked only in:") + " " + " ".join(chips)


def _escaped(text: str) -> str:
    """Return a text with the characters escaped that Markdown would format."""
    return re.sub(r"([\\`*_\[\]<>#|~])", r"\\\1", " ".join(text.split()))


def plain(answer: Answer) -> str:
    """Return the answer with its sources, for the clipboard."""
    lines = [answer.answer]
    if answer.citations:
        lines.append("")
    for citation in answer.citations:
        place = printed(citation.page, citation.page_label)
        lines.append(f"[{citation.marker}] {citation.title}, {place}: “{citation.quote}”")
    return "\n".join(lines)


def _verdict(citation: Citation, css: Css) -> str:
    texts = {
        Verdict.VERBATIM: (tr("word for word"), "good"),
        Verdict.SUPPORTED: (tr("supported"), "fair"),
        Verdict.UNSUPPORTED: (tr("not found in the book"), "bad"),
    }
    text, color = texts[citation.verdict]
    return f'<span style="color:{css(color)}; font-weight:600">{escape(text)}</span>'


def _shortened(quote: str) -> str:
    text = " ".join(quote.split())
    if len(text) <= QUOTE_LENGTH:
        return text
    return text[:QUOTE_LENGTH].rsplit(" ", 1)[0] + "…"


def _line(href: str, place: str, rest: str, css: Css) -> str:
    return (
        f'<p style="margin-top:0; margin-bottom:5px">'
        f'<a href="{href}" style="color:{css("accent")}; text-decoration:none">{escape(place)}</a>'
        f"{rest}</p>"
    )


def sources(citations: Sequence[Citation], css: Css, *, titles: bool) -> str:
    """Return the list of sources; `titles` where more than one book may be meant."""
    lines = []
    for citation in citations:
        place = f"{citation.marker} · {printed(citation.page, citation.page_label)}"
        if titles:
            place += f" · {citation.title}"
        quote = f' <span style="color:{css("muted")}">“{escape(_shortened(citation.quote))}”</span>'
        rest = f"{quote} {_verdict(citation, css)}"
        lines.append(_line(f"{CITE}{citation.marker}", place, rest, css))
    return "".join(lines)


def nearest(answer: Answer, css: Css, *, titles: bool) -> str:
    """Return why the question was not answered, and the pages that came nearest."""
    lines = [
        f'<p style="margin-top:0; margin-bottom:5px; color:{css("muted")}">{escape(note)}</p>'
        for note in answer.notes
    ]
    if answer.context:
        heading = escape(tr("Nearest pages:"))
        lines.append(f'<p style="margin-top:0; margin-bottom:5px">{heading}</p>')
    for index, item in enumerate(answer.context[:NEAREST]):
        place = printed(item.page, item.page_label)
        if titles:
            place += f" · {item.title}"
        section = f' <span style="color:{css("muted")}">{escape(item.section)}</span>'
        lines.append(_line(f"{NEAR}{index}", place, section, css))
    return "".join(lines)


def _left_out(answer: Answer) -> str:
    if answer.left_out is None:
        return ""
    if not answer.left_out:
        return ""
    tokens = sum(part.tokens for part in answer.left_out)
    ranges = [page_range(*part.pages) for part in answer.left_out]
    shown = ", ".join(ranges[:6]) + (" …" if len(ranges) > 6 else "")
    text = tr("Did not fit into the model's window: {pages} ({tokens:,} tokens)")
    return text.format(pages=shown, tokens=tokens)


def details(answer: Answer, model: str) -> str:
    """Return how it was answered: mode, model, timings, what was read; one a line."""
    took = answer.timings
    speed = tr("First word after {first:.1f} s · {speed:.0f} tokens/s · {total:.1f} s in all")
    read = tr("{n} passages read · {tokens:,} tokens ({reused:,} known from before)")
    rounds = tr("Written {n} times; the best proved answer is shown")
    if not answer.model:
        return "\n".join(answer.notes)
    lines = [
        f"{mode_name(answer.mode)} · {model or answer.model}",
        rounds.format(n=answer.rounds) if answer.rounds > 1 else "",
        speed.format(first=took.ttft_s, speed=took.tokens_per_s, total=took.total_s),
        read.format(n=len(answer.context), tokens=took.prompt_tokens, reused=took.reused_tokens),
        _left_out(answer),
        *answer.notes,
    ]
    return "\n".join(line for line in lines if line)
