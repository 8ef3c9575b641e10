"""Read single key presses from the terminal."""

from __future__ import annotations

import contextlib
import os
import select
import sys
from collections.abc import Iterator

NONE = -1  # number of the label that key 0 chooses: of samples without one


class Keys:
    """No keys: stdin is not a terminal."""

    def pressed(self) -> str:
        """Return a pressed key, "" without one."""
        return ""


class _Posix(Keys):
    def pressed(self) -> str:
        if not select.select([sys.stdin], [], [], 0)[0]:
            return ""
        return os.read(sys.stdin.fileno(), 1).decode(errors="replace")


class _Windows(Keys):
    def pressed(self) -> str:
        import msvcrt

        return msvcrt.getwch() if msvcrt.kbhit() else ""  # type: ignore[attr-defined]


@contextlib.contextmanager
def keys() -> Iterator[Keys]:
    """Switch the terminal to single key presses within the context; Ctrl-C still interrupts."""
    if not sys.stdin.isatty():
        yield Keys()
    elif os.name == "nt":
        yield _Windows()
    else:
        import termios
        import tty

        before = termios.tcgetattr(sys.stdin)
        tty.setcbreak(sys.stdin)
        try:
            yield _Posix()
        finally:
            termios.tcsetattr(sys.stdin, termios.TCSADRAIN, before)
