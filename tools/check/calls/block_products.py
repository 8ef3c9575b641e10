"""None: products only calls other loops, which have calls of their own."""
