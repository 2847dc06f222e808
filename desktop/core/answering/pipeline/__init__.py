"""The steps from a question to its answer, and who executes each of them."""
