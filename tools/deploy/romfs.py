"""Deploy code and a model to a firmware's ROMFS partition, where both are used in place.

The partition holds one image that is written as a whole, its first block last: until then it is
not a valid ROMFS, and the board starts without.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from pathlib import Path

from . import answers
from .device import Device
from .errors import DeployError

FOLDER = "/rom"  # mount point, from which MicroPython imports
_CODE = Path(__file__).parent / "on_board_romfs.py"
_PIECE = 2048


class Partition:
    """The ROMFS partition of a board.

    Methods raise DeployError if the board has none, if it is too small, or does not read back.
    """

    def __init__(self, device: Device):
        self._device = device
        device.execute(_CODE.read_text())
        printed = device.execute("partition()")
        due = "the size of its ROMFS and of a block"
        self.nbytes, self._block = answers.parsed(printed, tuple[int, int], due)
        if not self.nbytes:
            raise DeployError("this board's firmware has no ROMFS partition")

    def holds(self, image: bytes) -> bool:
        """Return True if the partition holds this image already."""
        printed = self._device.execute(f"image_digest({len(image)})")
        return printed.strip() == hashlib.sha256(image).hexdigest()

    def write(self, image: bytes, on_written: Callable[[int], object]) -> None:
        """Write an image, and verify it by its digest.

        Args:
            image: the image.
            on_written: called with the number of bytes after each write.
        """
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
            raise DeployError("the ROMFS does not read back as it was written")
