"""The language model at work: one model loaded, answers written, books prefilled."""
