"""Targets that are a board in QEMU: MicroPython's qemu port, driven over the serial line.

Each run starts QEMU anew, which takes 50 ms: nothing of one script is left for the next one.
"""

import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from .errors import TargetError, TargetTimeout
from .packages import (
    GCC_ARM,
    GCC_RISCV,
    MAKE,
    NEWLIB_ARM,
    PICOLIBC_RISCV,
    QEMU_ARM,
    QEMU_RISCV,
)
from .process import Process, SerialLines
from .rawrepl import RawRepl
from .recipe import Recipe
from .staging import SCRIPT, romfs_image, staged
from .target import Completed, Target

# QEMU's escape character must be none that the raw REPL uses, as the usual Ctrl-A is.
ESCAPE = "0x1d"

# One instruction is 2**6 ns of the machine's time, and that does not wait for this machine's.
ICOUNT = ("-icount", "shift=6,align=off,sleep=off")

START = """
import sys, os, vfs, uctypes
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
class QemuTarget(Target):
    """A board in QEMU; the script and its files are a ROMFS image in the board's memory."""

    machine: str = ""
    system: str = "qemu-system-arm"
    rom_address: int = 0
    rom_size: int = 0  # bytes of memory from there on that nothing else uses
    bios: tuple[str, ...] = ()
    # With icount: where a 32-bit counter of time can be read, and its ticks an instruction.
    counter: tuple[int, float] = (0, 0.0)

    def run(
        self, script, files=None, args=(), timeout=60, heap=None, on_line=None, icount=False
    ) -> Completed:
        if heap is not None:
            raise self._refuse("another heap size")
        firmware = self.build()
        lines = SerialLines(on_line)
        with tempfile.NamedTemporaryFile(prefix="mpconnxr-", suffix=".romfs") as rom:
            with staged(script, files) as folder:
                image = self._checked(romfs_image(folder))
            rom.write(image)
            rom.flush()
            command = self._command(firmware, rom.name, icount)
            options = {"stdin": subprocess.PIPE, "stderr": subprocess.DEVNULL}
            try:
                with Process(command, timeout, **options) as process:
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

    def _command(self, firmware: Path, rom: str, icount: bool) -> list[str]:
        return [
            self.system,
            *(ICOUNT if icount else ()),
            *("-machine", self.machine),
            *self.bios,
            *("-display", "none", "-monitor", "none", "-semihosting"),
            # Were stdio not multiplexed, QEMU would look for input only after a second.
            *("-chardev", "stdio,id=serial,mux=on,signal=off", "-echr", ESCAPE),
            *("-serial", "chardev:serial"),
            *("-device", f"loader,file={rom},addr={self.rom_address:#x},force-raw=on"),
            *("-kernel", str(firmware)),
        ]

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


_HEAP = f"MICROPY_HEAP_SIZE={2 << 20}"
_ARM = {
    "word_bits": 32,
    "float_bits": 32,
    "viper": True,
    "build_packages": (GCC_ARM, NEWLIB_ARM, MAKE),
    "run_packages": (QEMU_ARM,),
    "rom_address": 0x21000000,
    "rom_size": 16 << 20,
}
# The free-running counter of these boards: its address, and ticks (of 40 or 50 ns) an instruction.
_COUNTER = (0x40028018, 1.6)
_COUNTER_AN505 = (0x50302018, 1.28)

TARGETS = (
    QemuTarget(
        "mps2-an385",
        "Cortex-M3 board in QEMU: 32-bit words, single floats, viper, asm_thumb",
        Recipe("qemu", "firmware.elf", ("BOARD=MPS2_AN385", _HEAP)),
        arch="armv7m",
        machine="mps2-an385",
        counter=_COUNTER,
        **_ARM,
    ),
    QemuTarget(
        "mps2-an385-v6m",
        "the same board with ARMv6-M code only, as on the RP2040",
        Recipe("qemu", "firmware.elf", (_HEAP,), board="MPS2_AN385_V6M"),
        arch="armv6m",
        machine="mps2-an385",
        counter=_COUNTER,
        **_ARM,
    ),
    QemuTarget(
        "mps2-an386",
        "Cortex-M4 board in QEMU: single floats in an FPU, DSP instructions",
        Recipe("qemu", "firmware.elf", (_HEAP,), board="MPS2_AN386"),
        arch="armv7emsp",
        machine="mps2-an386",
        counter=_COUNTER,
        **_ARM,
    ),
    QemuTarget(
        "mps2-an505",
        "Cortex-M33 board in QEMU: single floats in an FPU, DSP instructions",
        Recipe("qemu", "firmware.elf", (_HEAP,), board="MPS2_AN505"),
        arch="armv7emsp",
        machine="mps2-an505",
        counter=_COUNTER_AN505,
        **_ARM | {"rom_address": 0x80000000},
    ),
    QemuTarget(
        "virt-rv32",
        "RISC-V board in QEMU: 32-bit words, single floats, viper",
        Recipe(
            "qemu",
            "firmware.elf",
            # gcc 12 takes a 64-bit libgcc where the extension is called zicsr.
            ("BOARD=VIRT_RV32", "RV32_ARCH=rv32imac -misa-spec=2.2", "MICROPY_HEAP_SIZE=1900000"),
        ),
        arch="rv32imc",
        machine="virt",
        system="qemu-system-riscv32",
        bios=("-bios", "none"),
        counter=(0x0200BFF8, 0.64),
        **_ARM
        | {
            "build_packages": (GCC_RISCV, PICOLIBC_RISCV, MAKE),
            "run_packages": (QEMU_RISCV,),
            "rom_address": 0x81000000,
        },
    ),
)
