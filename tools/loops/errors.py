"""Why no module was made of a template. Caught once, in __main__."""


class LoopError(Exception):
    """The text is the whole report."""
