"""Signs of life while something takes long: a bar on a terminal, else a line every few seconds."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

from tqdm import tqdm

EVERY = 10.0  # s between two lines, where nobody sees a bar


class Progress:
    """How far something is. unit: "B" for bytes; without a total only the time is known."""

    def __init__(self, what: str, total: int | None = None, unit: str = ""):
        self.what, self.total, self.unit = what, total, unit
        self.done = 0

    def update(self, n: int = 1) -> None:
        """So much more is done."""
        self.done += n

    def describe(self, what: str) -> None:
        """What is being done now."""
        self.what = what

    def line(self, seconds: float) -> str:
        """`copying model.bin, 12 of 58 KB, 20 s`."""
        parts = [self.what, self._share(), f"{seconds:.0f} s"]
        return ", ".join(part for part in parts if part)

    def _share(self):
        if not self.total:
            return ""
        if self.unit == "B":
            return f"{self.done / 1000:.0f} of {self.total / 1000:.0f} KB"
        return f"{self.done} of {self.total} {self.unit}s".rstrip()


class _Bar(Progress):
    """The same, shown by tqdm."""

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
    """While it lasts, people see on stderr that something happens. name: of the command."""
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
