"""Answering a question in one of the modes, with citations that are proved."""
