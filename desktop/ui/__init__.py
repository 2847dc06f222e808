"""The window: widgets, and the objects that connect them to the workers. No thread of its own."""
