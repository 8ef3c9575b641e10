"""Why no module was made of a source. Caught once, in __main__."""


class AsmError(Exception):
    """The text is the whole report."""
