"""What can go wrong with a run, apart from the conversion and the target."""


class RunError(Exception):
    """The model did not run, or what it gave cannot be compared. One line."""
