"""Targets that are boards in QEMU: MicroPython's qemu port, driven over the serial line.

Each run starts QEMU again, which takes 50 ms, so that scripts cannot affect each other.
"""

from dataclasses import dataclass
from pathlib import Path

from .packages import (
    GCC,
    GCC_ARM,
    GCC_RISCV,
    GCC_XTENSA,
    LIBC,
    MAKE,
    NEWLIB_ARM,
    PICOLIBC_RISCV,
    PICOLIBC_XTENSA,
    QEMU_ARM,
    QEMU_RISCV,
    QEMU_XTENSA,
)
from .recipe import Recipe
from .rom import RomTarget
from .xtensa import XtensaRecipe

# QEMU's default escape character, Ctrl-A, belongs to the raw REPL.
ESCAPE = "0x1d"

# Unless stdio is multiplexed, QEMU polls its input only once a second.
SERIAL_LINE = (
    *("-chardev", "stdio,id=serial,mux=on,signal=off", "-echr", ESCAPE),
    *("-serial", "chardev:serial"),
)

# An instruction takes 2**6 ns of the board's time, which does not wait for real time.
ICOUNT = ("-icount", "shift=6,align=off,sleep=off")


@dataclass(frozen=True)
class QemuTarget(RomTarget):
    """A board in QEMU, which loads the ROMFS image into the board's memory.

    Attributes:
        machine: QEMU's name of the board.
        cpu: the core, if the machine has several.
        system: QEMU's executable.
        bios: options for the firmware that runs before MicroPython.
        console: options that connect the serial line.
        counter: address of a 32-bit counter and its ticks per instruction, if run with icount;
            address 0: time.ticks_cpu() counts.
        plugin: value of QEMU's option -plugin.
    """

    machine: str = ""
    cpu: str = ""
    system: str = "qemu-system-arm"
    bios: tuple[str, ...] = ()
    console: tuple[str, ...] = SERIAL_LINE
    counter: tuple[int, float] = (0, 1.0)
    plugin: str = ""

    def _command(self, firmware: Path, rom: str, icount: bool) -> list[str]:
        return [
            self.system,
            *(ICOUNT if icount else ()),
            *("-machine", self.machine),
            *(("-cpu", self.cpu) if self.cpu else ()),
            *(("-plugin", self.plugin) if self.plugin else ()),
            *self.bios,
            *("-display", "none", "-monitor", "none", "-semihosting"),
            *self.console,
            *("-device", f"loader,file={rom},addr={self.rom_address:#x},force-raw=on"),
            *("-kernel", str(firmware)),
        ]


_HEAP = f"MICROPY_HEAP_SIZE={2 << 20}"
_BOARD = {"word_bits": 32, "float_bits": 32, "viper": True, "rom_size": 16 << 20}
_ARM = _BOARD | {
    "build_packages": (GCC_ARM, NEWLIB_ARM, MAKE),
    "run_packages": (QEMU_ARM,),
    "rom_address": 0x21000000,
}
_XTENSA = _BOARD | {
    "machine": "sim",
    "build_packages": (GCC_XTENSA, PICOLIBC_XTENSA, GCC, LIBC, MAKE),
    "run_packages": (QEMU_XTENSA,),
    "system": "qemu-system-xtensa",
    # The board reads QEMU's stdin: on its serial line, characters would be lost.
    "console": ("-serial", "none"),
    "rom_address": 0x62000000,
}
# Free-running counter of these boards: address, and ticks (of 40 or 50 ns) per instruction.
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
            # With the extension zicsr in the name, gcc 12 would link a 64-bit libgcc.
            ("BOARD=VIRT_RV32", "RV32_ARCH=rv32imac -misa-spec=2.2", "MICROPY_HEAP_SIZE=1900000"),
        ),
        arch="rv32imc",
        machine="virt",
        system="qemu-system-riscv32",
        bios=("-bios", "none"),
        counter=(0x0200BFF8, 0.64),
        build_packages=(GCC_RISCV, PICOLIBC_RISCV, MAKE),
        run_packages=(QEMU_RISCV,),
        rom_address=0x81000000,
        **_BOARD,
    ),
    QemuTarget(
        "sim-de212",
        "Xtensa core with register windows in QEMU: the ESP32's ABI, single floats, viper",
        XtensaRecipe("qemu", "firmware.elf", (_HEAP,), board="SIM_DE212", core="de212"),
        arch="xtensawin",
        cpu="de212",
        **_XTENSA,
    ),
    QemuTarget(
        "sim-lx106",
        "Xtensa core without register windows in QEMU: the ESP8266's, single floats, viper",
        XtensaRecipe("qemu", "firmware.elf", (_HEAP,), board="SIM_LX106"),
        arch="xtensa",
        cpu="lx106",
        **_XTENSA,
    ),
)
