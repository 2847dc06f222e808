"""Books, their pages and passages, and the index that finds them."""
