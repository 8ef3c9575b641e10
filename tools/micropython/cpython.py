"""The target "cpython": mpconnxr on the Python that runs these tools."""

import sys
from dataclasses import dataclass
from pathlib import Path

from .recipe import Recipe
from .unix import UnixTarget

# Import modules only from the script's folder, not from the user's site-packages. Use UTF-8 and
# unbuffered output, as MicroPython does.
_OPTIONS = ("-E", "-s", "-S", "-u", "-X", "utf8")


@dataclass(frozen=True)
class CPythonTarget(UnixTarget):
    """This Python as a target. It needs no build, and its heap grows as needed."""

    def path(self) -> Path:
        """Return the executable of this Python."""
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
