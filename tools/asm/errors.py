"""Error of tools.asm, caught in __main__."""


class AsmError(Exception):
    """A source or loop that cannot become machine code. The message is the whole report."""
