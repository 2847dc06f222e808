"""From the sources of an answer to the prompt: context, cached blocks, recap, texts."""
