"""Code and a model in the ROMFS partition that some firmware has: both are used where they lie.

The partition is one image that is written as a whole, its first block last: until then it is no
ROMFS, and the board starts without.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path

from tools import romfs

from . import answers
from .code import File
from .device import Device
from .errors import DeployError

FOLDER = "/rom"  # where MicroPython mounts it, and looks for modules
_CODE = Path(__file__).parent / "on_board_romfs.py"
_PIECE = 2048


def image_of(files: list[File]) -> bytes:
    """A ROMFS of these files, in which the model is aligned."""
    return romfs.image_of({f.path: f.data for f in files})


class Partition:
    """The ROMFS partition of a board. Raises DeployError if it has none."""

    def __init__(self, device: Device):
        self._device = device
        device.execute(_CODE.read_text())
        printed = device.execute("partition()")
        due = "the size of its ROMFS and of a block"
        self.nbytes, self._block = answers.parsed(printed, tuple[int, int], due)
        if not self.nbytes:
            raise DeployError("this board's firmware has no ROMFS partition")

    def holds(self, image: bytes) -> bool:
        """Return whether the partition has this image already."""
        found = self._device.execute(f"image_digest({len(image)})")
        return found.strip() == hashlib.sha256(image).hexdigest()

    def write(self, image: bytes, on_written: Callable[[int], object]) -> None:
        """Raises DeployError if it does not fit, or is not there afterwards."""
        if len(image) > self.nbytes:
            raise DeployError(
                f"{len(image):,} bytes of code and model, the ROMFS has {self.nbytes:,}"
            )
        self._device.execute(f"erase({len(image)})")
        starts = range(0, len(image), self._block)
        for start in [*starts[1:], 0]:
            block = image[start : start + self._block]
            for at in range(0, len(block), _PIECE):
                text = base64.b64encode(block[at : at + _PIECE])
                self._device.execute(f"program({start + at}, {text!r})")
                on_written(len(block[at : at + _PIECE]))
        self._device.execute("finish()")
        if not self.holds(image):
            raise DeployError("reading back the ROMFS gives other data than was written")
