"""The left pane: books, collections, and what is done with them."""
