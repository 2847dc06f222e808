"""The list of language models and the page that shows it."""
