"""Documents as they are read, and what can be told of their text without opening them."""
