"""Place models in the flash of RP2 boards, outside of the file system, to be read in place.

Between the firmware and the file system there is unused flash. A slot's file then holds a
reference (mpconnxr/io/slots.py), so that a power cut has the same effects as with models in the
file system: a model is written to where no slot refers, and its reference afterwards.
"""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from tools import package

from . import answers
from .device import Device
from .errors import DeployError

_CODE = Path(__file__).parent / "on_board_xip.py"
_BLOCK = 4096


class Reference(NamedTuple):
    """Position of a model in the flash: offset, a multiple of 4096, and size [bytes]."""

    offset: int
    nbytes: int

    @property
    def end(self) -> int:
        """The offset behind the model, rounded up to a sector."""
        return self.offset + _rounded(self.nbytes)

    def data(self) -> bytes:
        """Return the contents of a slot's file that refers to the model."""
        return struct.pack("<8sII", b"XIPFLASH", *self)


class Region:
    """The last `nbytes` bytes of flash before the file system.

    Methods raise DeployError if they are not free, too few, or do not read back.
    """

    def __init__(self, device: Device, nbytes: int):
        self._device = device
        device.execute((package.SOURCES / "io" / "xip.py").read_text())
        device.execute(_CODE.read_text())
        printed = device.execute("gap(words)")
        due = "where its firmware and its file system meet"
        firmware_end, self._end = answers.parsed(printed, tuple[int, int], due)
        free = (self._end - _rounded(firmware_end)) // _BLOCK * _BLOCK
        if not 0 < nbytes <= free:
            raise DeployError(
                f"--reserve {nbytes}: this board's flash has {free:,} bytes between the firmware "
                "and the file system; without --reserve weights are read from the file system"
            )
        self._start = self._end - _rounded(nbytes)

    def references(self, sizes: Mapping[str, int]) -> dict[str, Reference]:
        """Return the references of all models on the board, by path of the slot's file."""
        small = [path for path, nbytes in sizes.items() if nbytes == 16]
        lines = self._device.execute(f"references({small!r})")
        kind = tuple[str, int, int]
        models = answers.parsed_lines(lines, kind, "a model's path, offset and size")
        return {path: Reference(*rest) for path, *rest in models}

    def holds(self, reference: Reference, data: bytes) -> bool:
        """Return True if the flash at a reference holds a model."""
        if reference.nbytes != len(data):
            return False
        printed = self._device.execute(f"held(view, {reference.offset}, {reference.nbytes})")
        return printed.strip() == hashlib.sha256(data).hexdigest()

    def place(self, nbytes: int, taken: list[Reference]) -> Reference:
        """Return a Reference to free flash for a model; `taken` references stay in use."""
        starts = [self._start, *(other.end for other in taken)]
        for start in sorted(max(start, self._start) for start in starts):
            new = Reference(start, nbytes)
            free = all(new.end <= other.offset or other.end <= start for other in taken)
            if free and new.end <= self._end:
                return new
        needed = sum(_rounded(other.nbytes) for other in taken) + _rounded(nbytes)
        raise DeployError(
            f"no room for {nbytes:,} bytes in the {self._end - self._start:,} that are reserved, "
            f"beside the models there: --reserve {needed} has it"
        )

    def write(
        self, reference: Reference, data: bytes, on_written: Callable[[int], object]
    ) -> None:
        """Program a model's blocks, and verify them by their digest.

        Args:
            reference: the region to write to.
            data: the model.
            on_written: called after each block with the number of the model's bytes in it.

        Raises:
            DeployError: if the flash does not read back as it was written.
        """
        for at in range(0, len(data), _BLOCK):
            block = data[at : at + _BLOCK].ljust(_BLOCK, b"\xff")
            text = base64.b64encode(block)
            self._device.execute(f"program(region, {reference.offset + at}, {text!r})")
            on_written(min(_BLOCK, len(data) - at))
        if not self.holds(reference, data):
            raise DeployError("the flash does not read back as it was written")


def _rounded(nbytes):
    return nbytes + -nbytes % _BLOCK
