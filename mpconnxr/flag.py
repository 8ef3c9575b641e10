"""The lock of firmware without threads."""


class Flag:
    """A lock that an interrupting callback finds held."""

    def __init__(self):
        self.is_held = False

    def acquire(self, waits):
        """Take the lock; return True if it was free."""
        was_held = self.is_held
        self.is_held = True
        return not was_held

    def release(self):
        """Make the lock free."""
        self.is_held = False
