"""None: its loops only call others, which have calls of their own."""
