"""Lutrin: study a textbook on a laptop, with every claim tied to the sentence it came from."""

__version__ = "0.1.0"
