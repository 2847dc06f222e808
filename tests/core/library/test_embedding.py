from __future__ import annotations

import numpy as np
import pytest

from desktop.core.library.embedding import WINDOW, MiniLM

pytestmark = pytest.mark.model


@pytest.fixture(scope="module")
def embedder() -> MiniLM:
    return MiniLM()


def test_each_token_has_a_vector_and_a_weight(embedder: MiniLM) -> None:
    texts = ["The heron fishes.", "", "A whole river of words " * 100]
    short, none, long = embedder.embed_tokens(texts)
    assert short.vectors.shape == (len(embedder.token_starts(texts[:1])[0]), embedder.dimension)
    assert np.linalg.norm(short.vectors, axis=1) == pytest.approx(1.0, abs=1e-3)
    assert none.vectors.shape == (0, embedder.dimension)
    assert none.weights.shape == (0,)
    assert long.vectors.shape == (WINDOW - 2, embedder.dimension)  # what the model reads
    the, heron = short.weights[:2]
    assert 0 < the < heron


def test_a_token_means_what_its_neighbours_say(embedder: MiniLM) -> None:
    asked, *found = (
        tokens.vectors
        for tokens in embedder.embed_tokens(
            ["car", "He parked his automobile", "He parked his boat", "She ate an apple"]
        )
    )
    near = [float((asked @ vectors.T).max()) for vectors in found]
    assert near == sorted(near, reverse=True)
