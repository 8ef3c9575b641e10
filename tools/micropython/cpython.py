"""The target that is no MicroPython: the Python that runs these tools, as mpconnxr supports it."""

import sys
from dataclasses import dataclass
from pathlib import Path

from .recipe import Recipe
from .unix import UnixTarget

# Modules come from the folder alone, not from what a user has installed; text is UTF-8 and lines
# come at once, as they do in MicroPython.
_OPTIONS = ("-E", "-s", "-S", "-u", "-X", "utf8")


@dataclass(frozen=True)
class CPythonTarget(UnixTarget):
    """Nothing to build; its heap grows as it wants to."""

    def path(self) -> Path:
        """Return this Python."""
        return Path(sys.executable)

    def _command(self, heap: int | None) -> list[str]:
        if heap is not None:
            raise self._refuse("heap")
        return [sys.executable, *_OPTIONS]


TARGETS = (
    CPythonTarget(
        "cpython",
        "this Python, to debug a model in: 64-bit words, doubles, plain loops",
        Recipe("", ""),
        word_bits=64,
        float_bits=64,
        viper=False,
        arch="",
        build_packages=(),
    ),
)
