"""Base class of boards that run a script from a ROMFS image in memory, over the REPL."""

import math
import subprocess
import tempfile
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path

from .errors import TargetError, TargetTimeout
from .process import Lines, Process, SerialLines
from .staging import SCRIPT, romfs_image, staged
from .target import Completed, Target

# Bytes of a command, which the target compiles from its heap. Scripts are files instead.
LONGEST_COMMAND = 16384

START = """
import sys, os, vfs, uctypes
try:
    vfs.umount("/rom")  # a firmware may mount its own
except OSError:
    pass
vfs.mount(vfs.VfsRom(uctypes.bytearray_at({address}, {size})), "/rom")
os.chdir("/rom")
sys.path.insert(0, "/rom")
sys.argv[:] = {argv}
del sys, os, vfs, uctypes
try:
    execfile({script!r})
except SystemExit as _exit:
    _exit = _exit.args[0] if _exit.args else 0
    print("{mark}%d" % (_exit if isinstance(_exit, int) else 0 if _exit is None else 1))
"""


@dataclass(frozen=True)
class RomTarget(Target):
    """A board whose memory holds the script and its files as a ROMFS image when it starts.

    Attributes:
        rom_address: start of the image.
        rom_size: bytes from there on that nothing else uses.
        quiet: seconds of processor time without output after which a run is given up.
    """

    rom_address: int = 0
    rom_size: int = 0
    quiet: float = math.inf

    @abstractmethod
    def _command(self, firmware: Path, rom: str, icount: bool) -> list[str]:
        """Return the command of a process whose stdin and stdout are the board's serial line."""

    def run(
        self, script, files=None, args=(), timeout=60, heap=None, on_line=None, icount=False
    ) -> Completed:
        """Run a script on the emulated board: see Target.run."""
        if heap is not None:
            raise self._refuse("another heap size")
        firmware = self.build()
        lines = SerialLines(on_line)
        with tempfile.NamedTemporaryFile(prefix="mpconnxr-", suffix=".romfs") as rom:
            with staged(script, files) as folder:
                image = self._checked(romfs_image(folder, self.arch))
            rom.write(image)
            rom.flush()
            command = self._command(firmware, rom.name, icount)
            try:
                with Process(command, timeout, self.quiet, stdin=subprocess.PIPE) as process:
                    start = self._start(len(image), [SCRIPT, *args])
                    errors = RawRepl(process).execute(start, lines)
            except TargetTimeout as error:
                raise TargetTimeout(f"{self.name}: {error}", lines.finish()) from None
        stdout = lines.finish()
        return Completed(stdout, _without_start(errors), 1 if errors else lines.status or 0)

    def _checked(self, image: bytes) -> bytes:
        if len(image) > self.rom_size:
            raise TargetError(
                f"{self.name}: the files take {len(image)} bytes as ROMFS, more than the board's "
                f"{self.rom_size}"
            )
        return image

    def _start(self, size: int, argv: list[str]) -> str:
        return START.format(
            address=hex(self.rom_address),
            size=size,
            argv=ascii(argv),
            script=SCRIPT,
            mark=f"\\x{SerialLines.EXIT_MARK[0]:02x}",
        )


def _without_start(traceback: str) -> str:
    """Return the traceback without the line about the code that started the script."""
    lines = traceback.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith('  File "<stdin>", '))


class RawRepl:
    """Raw REPL of a MicroPython that has just started."""

    def __init__(self, process: Process):
        self._process = process
        self._pending = b""
        self._until(b">>> ")
        process.write(b"\x01")
        self._until(b"raw REPL; CTRL-B to exit\r\n>")

    def execute(self, source: str, lines: Lines) -> str:
        """Run source text.

        Args:
            source: the text.
            lines: receives the output.

        Returns:
            The traceback; "" if there was none.

        Raises:
            TargetError: if the text is too long, or the target stops.
        """
        command = source.encode()
        if len(command) > LONGEST_COMMAND or b"\x04" in command:
            raise TargetError("the script's arguments are too long or contain a control character")
        self._process.write(command + b"\x04")
        self._until(b"OK")
        while b"\x04" not in self._pending:
            lines.feed(self._pending)
            self._pending = self._read()
        output, _, self._pending = self._pending.partition(b"\x04")
        lines.feed(output)
        errors = SerialLines()
        errors.feed(self._until(b"\x04"))
        return errors.finish()

    def _until(self, mark: bytes) -> bytes:
        """Return what comes before `mark`, and keep what comes after it."""
        while mark not in self._pending:
            self._pending += self._read()
        before, _, self._pending = self._pending.partition(mark)
        return before

    def _read(self) -> bytes:
        data = self._process.read()
        if not data:
            raise self._process.stopped("the target's process")
        return data
