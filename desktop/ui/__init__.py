"""The window: widgets and what ties them to the workers. No thread of its own."""
