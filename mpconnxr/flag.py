"""What a lock is on firmware without threads."""


class Flag:
    """A lock that callbacks find held."""

    def __init__(self):
        self.is_held = False

    def acquire(self, waits):
        """Return whether it was free."""
        was_held = self.is_held
        self.is_held = True
        return not was_held

    def release(self):
        """Make it free."""
        self.is_held = False
