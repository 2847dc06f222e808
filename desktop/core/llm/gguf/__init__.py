"""What a GGUF file says of itself, read within bounds."""
