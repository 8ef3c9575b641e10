"""Why no module was made of a source."""


class LoopError(Exception):
    """The text is the whole report."""
