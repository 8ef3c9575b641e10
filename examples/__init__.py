"""Examples: each folder is one, with a page of its own."""
