"""The middle pane: questions, answers, and what of a book is asked."""
