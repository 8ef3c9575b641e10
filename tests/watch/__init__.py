"""A board in QEMU that detects stray accesses.

    from tools import package
    done = watched(get_target("mps2-an385")).run(script, files={"mpconnxr": package.folder()})

Code on the board that is not part of its firmware (viper's, the inline assembler's) ends QEMU if
it reads or writes outside of the buffers of its call; `done.stderr` then says what and where. See
watch.c, and on_device.py for the board's part.
"""

import math
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import Path

from tools.elf import Elf
from tools.micropython.errors import TargetError, TargetTimeout
from tools.micropython.packages import GCC, LIBC, missing_of
from tools.micropython.plugin import plugin
from tools.micropython.process import SerialLines
from tools.micropython.qemu import QemuTarget
from tools.micropython.target import Completed

STRAYED = 70  # status of a script that did, and of QEMU
_ON_DEVICE = Path(__file__).with_name("on_device.py")
_WATCH = Path(__file__).with_name("watch.c")

# Where the board speaks to the plugin: the last of the memory that holds the ROMFS image.
_BOX_NBYTES = 1 << 16

# Symbols of firmware: what runs when a board has a fault.
_FAULTS = (
    "HardFault_Handler",
    "MemManage_Handler",
    "BusFault_Handler",
    "UsageFault_Handler",
    "mtvec_exception",
    "sim_fault",
)
_APART = 64  # bytes; code that lies nearer belongs together
_STACK_NBYTES = {"arm": 12 << 10, "riscv32": 12 << 10, "xtensa": 256 << 10}


@dataclass(frozen=True)
class WatchedTarget(QemuTarget):
    """A board in QEMU whose stray accesses are detected.

    Loops of the package are watched if the script's files have it; others by
    `watch.Watched(loop)`.

    Attributes:
        goes_on: a stray access does not end QEMU, so that stderr has a line for each.
    """

    goes_on: bool = False

    def missing(self) -> list[str]:
        """Return the system packages that are lacking."""
        return list(dict.fromkeys([*super().missing(), *missing_of((GCC, LIBC))]))

    def run(
        self, script, files=None, args=(), timeout=60, heap=None, on_line=None, icount=False
    ) -> Completed:
        """Run a script whose accesses to memory are watched: see Target.run."""
        text = script.read_text() if isinstance(script, Path) else script
        files = {"watch_on_device.py": _ON_DEVICE} | dict(files or {})
        options = {"files": files, "args": args, "timeout": timeout, "icount": icount}
        with tempfile.TemporaryDirectory(prefix="mpconnxr-") as folder:
            report = Path(folder) / "report"
            board = replace(self, plugin=self._plugin(report))
            lines = SerialLines(on_line)
            try:
                completed = super(WatchedTarget, board).run(
                    self._prelude("mpconnxr" in files) + text,
                    on_line=lambda line: lines.feed(f"{line}\n".encode()),
                    **options,
                )
            except TargetTimeout:
                raise
            except TargetError:
                if not report.is_file():
                    raise
                return Completed(lines.finish(), report.read_text(), STRAYED)
            return completed._replace(stderr=report.read_text()) if report.is_file() else completed

    def _prelude(self, with_package: bool) -> str:
        table = self._elf().symbols["mp_fun_table"].value
        start = f"import watch_on_device as watch\nwatch.start({self._box():#x}, {table:#x})\n"
        return start + ("watch.watch_package()\n" if with_package else "")

    def _plugin(self, report: Path) -> str:
        options = ",".join(f"{name}={value}" for name, value in self._options(report))
        return f"{plugin(self.system, _WATCH)},{options}"

    def _options(self, report: Path) -> Iterator[tuple[str, object]]:
        elf = self._elf()
        yield "report", report
        yield "box", hex(self._box())
        for start, end in _code(elf):
            yield "code", _span(start, end - start)
        table = elf.symbols["mp_fun_table"]
        yield "keep", _span(table.value, table.nbytes)
        end, nbytes = elf.symbols["_estack"].value, _STACK_NBYTES[self.system.rpartition("-")[2]]
        yield "stack", _span(end - nbytes, nbytes)
        for name in _FAULTS:
            if name in elf.symbols:
                yield "fault", hex(elf.symbols[name].value & ~1)
        if self.goes_on:
            yield "goes_on", 1

    def _elf(self) -> Elf:
        return Elf.of(self.build())

    def _box(self) -> int:
        return self.rom_address + self.rom_size - _BOX_NBYTES


def _span(start: int, nbytes: int) -> str:
    """Return an extent as an option of the plugin has it."""
    return f"{start:#x}:{nbytes:#x}"


def _code(elf: Elf) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each piece of memory with instructions."""
    results = sorted((s.address, s.nbytes) for s in elf.sections if s.is_code)
    start = end = results[0][0]
    for address, nbytes in results:
        if address > end + _APART:
            yield start, end
            start = address
        end = address + nbytes
    yield start, end


def watched(target: QemuTarget, goes_on: bool = False, quiet: float = math.inf) -> WatchedTarget:
    """Return a watched copy of a board; see WatchedTarget and RomTarget for the options."""
    own = {field.name: getattr(target, field.name) for field in fields(QemuTarget)}
    return WatchedTarget(**own | {"quiet": quiet}, goes_on=goes_on)
