"""The error of sources of loops."""


class LoopError(Exception):
    """A source that cannot be translated. The text is the complete report."""
