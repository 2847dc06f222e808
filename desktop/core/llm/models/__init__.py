"""Model files: the catalogue, what is installed, and getting one."""
