"""Words, sentences and windows of a text, whatever document it comes from."""
