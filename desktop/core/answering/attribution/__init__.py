"""Claims held against the sources: citations, highlights, abstention."""
