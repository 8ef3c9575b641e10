"""None: its loop only calls others, which have calls of their own."""
