"""The forms of loops that consist of machine code, and their cores."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from .errors import AsmError

SOURCES = Path(__file__).parent


@dataclass(frozen=True)
class Core:
    """A processor core with a folder of sources.

    Attributes:
        name: name of the folder.
        gcc: command that runs preprocessor, assembler and linker.
        decorator: MicroPython's inline assembler.
        registers: registers of the arguments.
        described: QEMU's name of a core that binutils needs a description of; else "".
    """

    name: str
    gcc: str
    decorator: str
    registers: tuple[str, ...]
    described: str = ""

    @property
    def is_installed(self) -> bool:
        return shutil.which(self.gcc) is not None

    def run(self, *args: str | Path) -> subprocess.CompletedProcess[str]:
        """Run gcc with these arguments.

        Raises:
            AsmError: if binutils' description of the core cannot be made.
        """
        env = dict(os.environ)
        if self.described:
            # Imported here since only those with a cross compiler need it.
            from tools.micropython.errors import TargetError
            from tools.micropython.xtensa import describe

            try:
                env["XTENSA_GNU_CONFIG"] = str(describe(self.described))
            except TargetError as e:
                raise AsmError(str(e)) from None
        command = [self.gcc, *args]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=env)


_ARM = Core("arm", "arm-none-eabi-gcc", "asm_thumb", ("r0", "r1", "r2", "r3"))
_RV32 = Core("rv32", "riscv64-unknown-elf-gcc", "asm_rv32", ("a0", "a1", "a2", "a3"))
_XTENSA = Core(
    "xtensa", "xtensa-lx106-elf-gcc", "asm_xtensawin", ("a2", "a3", "a4", "a5"), "de212"
)
CORES = (_ARM, _RV32, _XTENSA)


@dataclass(frozen=True)
class Form:
    """A form of loops.

    Attributes:
        core: core of its processors.
        flags: options of gcc, which say what instructions it may use.
    """

    core: Core
    flags: tuple[str, ...]


FORMS = {
    "thumb": Form(_ARM, ("-mthumb", "-march=armv6s-m")),
    "armv7m": Form(_ARM, ("-mthumb", "-march=armv7-m")),
    "armv7em": Form(_ARM, ("-mthumb", "-march=armv7e-m")),
    "vfp": Form(_ARM, ("-mthumb", "-march=armv7e-m+fp", "-mfloat-abi=hard")),
    "rv32": Form(_RV32, ("-march=rv32imc", "-mabi=ilp32")),
    "xtensawin": Form(_XTENSA, ("-mabi=windowed", "-mtext-section-literals")),
}
