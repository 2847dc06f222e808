"""This computer: processor, cores, accelerators, and what fits its memory."""
