"""The forms that are made from assembler sources, and where their modules are."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from ..made import ROOT

SOURCES = Path(__file__).parent


@dataclass(frozen=True)
class Core:
    """A folder of sources. gcc: the command, which runs preprocessor, assembler and linker."""

    name: str
    gcc: str
    decorator: str
    registers: tuple[str, ...]  # of the arguments

    @property
    def is_here(self) -> bool:
        return shutil.which(self.gcc) is not None


_ARM = Core("arm", "arm-none-eabi-gcc", "asm_thumb", ("r0", "r1", "r2", "r3"))
_RV32 = Core("rv32", "riscv64-unknown-elf-gcc", "asm_rv32", ("a0", "a1", "a2", "a3"))
CORES = (_ARM, _RV32)


@dataclass(frozen=True)
class Form:
    """A form of loops; flags: which instructions it may use."""

    core: Core
    flags: tuple[str, ...]


FORMS = {
    "thumb": Form(_ARM, ("-mthumb", "-march=armv6s-m")),
    "armv7m": Form(_ARM, ("-mthumb", "-march=armv7-m")),
    "armv7em": Form(_ARM, ("-mthumb", "-march=armv7e-m")),
    "vfp": Form(_ARM, ("-mthumb", "-march=armv7e-m+fp", "-mfloat-abi=hard")),
    "rv32": Form(_RV32, ("-march=rv32imc", "-mabi=ilp32")),
}


def module_path(name: str, form: str) -> Path:
    """Where the module of a form is: the one place that knows it."""
    return ROOT / "mpconnxr" / "loops" / form / f"{name}.py"
