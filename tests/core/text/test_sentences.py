from __future__ import annotations

import random

import pytest

from desktop.core.text import sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences.spans(text)]


@pytest.mark.parametrize(
    "text",
    [
        "A heron fishes.|It waits.",
        "Really?|Yes!|Good.",
        "No full stop at the end",
        "A heading\n\n|A paragraph follows.",
        "One line\ngoes on here.|Then another.",
        # abbreviations
        "Dr. Smith met Mrs. Jones at St. Pancras.|They left.",
        "See fig. 3 and eq. 4, e.g. the tables, i.e. Table 2, vol. 3, pp. 4.|Then rest.",
        "Blood (cf. Chap. 2) and etc. were named by Brown et al. Later work agrees.",
        "The U.S. Army and the U.K. Navy met.|Nobody won.",
        "A Ph.D. Thesis was written.|It was long.",
        # initials
        "J. R. R. Tolkien wrote it.|C. S. Lewis read it.",
        "John F. Kennedy spoke.|They listened.",
        # numbers
        "Pi is 3.14159 or so.|It is not 3.2.",
        "It cost $1.50 in 1990.|Now it costs $4.00.",
        "Section 2.1. shows it.|Section 2.2 does not.",
        # quotes and brackets
        "“It works.” |She smiled.",
        'He said "stop."|Then he left.',
        "(This is aside.)|Back to it.",
        "It grew (see p. 4).|Then it fell.",
        "What now?!|Nothing…|So be it.",
        # French
        "Qu'est-ce ?|C'est un qubit.|M. Dupont l'a dit.",
        "Il dit : « Oui. »|Puis il part.",
        "Il dit : «\u00a0Oui\u00a0!\u00a0»|Elle part.",
        "Voir p. ex. le chap. 3.|Ensuite l’autre.",
        "L’état du qubit est mesuré.|Il s’effondre.",
        # Chinese and Japanese
        "第一句。|第二句！|第三句？|",
        "他说：「好。」|然后走了。",
        "これは本です。|はい。",
        # lower case after a full stop goes on
        "The co. was sold approx. at noon.|It closed.",
        "It ran in vitro. and so on.|Done.",
    ],
)
def test_sentences(text: str) -> None:
    """The bar stands where a sentence ends."""
    expected = [piece.strip() for piece in text.split("|") if piece.strip()]
    assert cut(text.replace("|", "" if "。" in text else " ")) == expected


def test_nothing_has_no_sentences() -> None:
    assert cut("") == cut(" \n\n \n") == []


@pytest.mark.parametrize("seed", range(20))
def test_spans_cover_all_but_white_space_in_order(seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        "word",
        "Word",
        "e.g.",
        "3.5",
        ".",
        "?",
        "!”",
        "\n\n",
        "\n",
        " ",
        "。",
        "»",
        "(",
        "J.",
        "…",
    ]
    text = " ".join(rng.choices(pieces, k=120))
    position = 0
    for start, end in sentences.spans(text):
        assert text[position:start].strip() == ""
        assert text[start:end] == text[start:end].strip() != ""
        position = end
    assert text[position:].strip() == ""


def test_a_long_text_without_a_full_stop_is_cut_in_no_time() -> None:
    assert len(cut("word " * 200_000)) == 1
    assert len(cut("a.b" * 100_000)) == 1
    assert len(cut("." * 200_000)) == 1
