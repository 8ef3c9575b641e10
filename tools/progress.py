"""Show the progress of long tasks: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

from tqdm import tqdm

EVERY = 10.0  # s between two lines, without a terminal


class Progress:
    """Progress of a task.

    Attributes:
        what: description of the task.
        total: amount at its end; None if only the time is known.
        unit: "B" for bytes.
        amount: amount so far.
    """

    def __init__(self, what: str, total: int | None = None, unit: str = ""):
        self.what, self.total, self.unit = what, total, unit
        self.amount = 0

    def update(self, n: int = 1) -> None:
        """Add n to the amount."""
        self.amount += n

    def describe(self, what: str) -> None:
        """Change the description."""
        self.what = what

    def line(self, seconds: float) -> str:
        """Return a line such as `copying file 3 of 36, 12 of 58 KB, 20 s`."""
        parts = [self.what, self._share(), f"{seconds:.0f} s"]
        return ", ".join(part for part in parts if part)

    def _share(self):
        if not self.total:
            return ""
        if self.unit == "B":
            return f"{self.amount / 1000:.0f} of {self.total / 1000:.0f} KB"
        return f"{self.amount} of {self.total} {self.unit}s".rstrip()


class _Bar(Progress):
    """Progress that tqdm shows as a bar."""

    def __init__(self, what, total=None, unit=""):
        super().__init__(what, total, unit)
        form = {} if total else {"bar_format": "{desc} {elapsed}"}
        self._bar = tqdm(
            total=total, desc=what, unit=unit, unit_scale=unit == "B", leave=False, **form
        )

    def update(self, n: int = 1) -> None:
        self._bar.update(n)

    def describe(self, what: str) -> None:
        self._bar.set_description(what)

    def refresh(self) -> None:
        self._bar.refresh()

    def close(self) -> None:
        self._bar.close()


@contextlib.contextmanager
def progress(name: str, what: str, total: int | None = None, unit: str = "") -> Iterator[Progress]:
    """Show the progress of a task on stderr until the context ends.

    Args:
        name: the command's name.
        what: description of the task.
        total: amount at its end; None if only the time is known.
        unit: unit of the amount, "B" for bytes.
    """
    shown = _Bar(what, total, unit) if sys.stderr.isatty() else Progress(what, total, unit)
    ended = threading.Event()
    thread = threading.Thread(target=_show, args=(name, shown, ended), daemon=True)
    thread.start()
    try:
        yield shown
    finally:
        ended.set()
        thread.join()
        if isinstance(shown, _Bar):
            shown.close()


def _show(name, shown, ended):
    start = time.monotonic()
    if isinstance(shown, _Bar):
        while not ended.wait(1):
            shown.refresh()
        return
    while not ended.wait(EVERY):
        print(f"{name}: {shown.line(time.monotonic() - start)}", file=sys.stderr, flush=True)
