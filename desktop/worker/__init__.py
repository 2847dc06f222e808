"""The process boundary: what the window must not load runs on the other side of it."""
