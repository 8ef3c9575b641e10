"""After a MemoryError, imported only then."""

import sys

from .errors import UnsupportedError


def fail():
    """Raises the UnsupportedError that says so.

    MicroPython leaves a module's name behind where memory ends while it makes the module, and
    takes it for imported ever after: without those names the next load imports them again.
    """
    for name in list(sys.modules):
        if sys.modules.get(name) is None:
            sys.modules.pop(name, None)
    raise UnsupportedError("not enough memory to load or run the model")
