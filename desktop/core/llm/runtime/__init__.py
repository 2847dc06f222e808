"""Running a model: llama.cpp, its key/value cache, prefill and decoding."""
