"""The right pane: a book's page, its marks, and finding in it."""
