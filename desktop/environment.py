"""Process-wide settings that have to stand before a heavy library is imported.

Child processes inherit them. Knows nothing of what the libraries are used for.
"""

from __future__ import annotations

import os

_DEFAULTS = {
    # Nothing is fetched at run time: a model is downloaded only where a user asked for it, by a
    # child process of its own that takes these off again.
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "LANCEDB_LOG": "error",
    "LANCE_LOG": "error",
    # Threads of torch sleep instead of spinning once a batch is done, so that an answer that is
    # being written gets the cores, and not indexing.
    "OMP_WAIT_POLICY": "PASSIVE",
}


def prepare() -> None:
    """Set what is not set already."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
