"""What targets share that run a script from a ROMFS image in a board's memory, over its REPL."""

import math
import subprocess
import tempfile
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path

from .errors import TargetError, TargetTimeout
from .process import Process, SerialLines
from .rawrepl import RawRepl
from .staging import SCRIPT, romfs_image, staged
from .target import Completed, Target

START = """
import sys, os, vfs, uctypes
try:
    vfs.umount("/rom")  # of a firmware that mounts one of its own
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
    """A board whose memory holds the script and its files as a ROMFS image when it starts."""

    rom_address: int = 0
    rom_size: int = 0  # bytes of memory from there on that nothing else uses
    quiet: float = math.inf  # seconds of processor time without output: then a run is given up

    @abstractmethod
    def _command(self, firmware: Path, rom: str, icount: bool) -> list[str]:
        """The command of a process whose stdin and stdout are the board's serial line."""

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
            options = {"stdin": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            try:
                with Process(command, timeout, self.quiet, **options) as process:
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
    """The traceback without the line about what started the script."""
    lines = traceback.splitlines(keepends=True)
    return "".join(line for line in lines if not line.startswith('  File "<stdin>", '))
