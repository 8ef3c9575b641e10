"""None: pieces only calls other loops, which have calls of their own."""
