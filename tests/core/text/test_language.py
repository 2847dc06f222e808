from __future__ import annotations

import pytest

from desktop.core.text.language import language


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What is the difference between a heron and a stork?", "en"),
        ("Why do herons stand still?", "en"),
        ("Quelle porte Alice doit-elle utiliser pour envoyer la couleur bleue ?", "fr"),
        ("Qu'est-ce que l'inflation ?", "fr"),
        ("Was ist der Unterschied zwischen einem Reiher und einem Storch?", "de"),
        ("¿Cuál es la diferencia entre una garza y una cigüeña?", "es"),
        ("Qual è la differenza tra un airone e una cicogna?", "it"),
        ("Qual é a diferença entre uma garça e uma cegonha?", "pt"),
        ("Inflation 1980", ""),
        ("", ""),
    ],
)
def test_a_question_has_the_language_of_its_little_words(text: str, code: str) -> None:
    assert language(text) == code
