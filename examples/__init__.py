"""Examples: each folder is one, with its own README."""
