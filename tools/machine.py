"""Describe the code that a board can run: native instructions and inline assemblers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from mpconnxr.forms import order
from tools.mpy.native import ASSEMBLERS

# mpy-cross's -march by the number in sys.implementation._mpy; "" is no native code.
_ARCHS = (
    "",
    "x86",
    "x64",
    "armv6",
    "armv6m",
    "armv7m",
    "armv7em",
    "armv7emsp",
    "armv7emdp",
    "xtensa",
    "xtensawin",
    "rv32imc",
    "rv64imc",
)
_MPY_VERSION = (6, 3)  # of files by mpy-cross, loaded by MicroPython 1.23 to 1.29
# Forms of loops in assembler, the best one first.
ASSEMBLER = tuple(form for form in order if not form.startswith(("viper", "plain")))
_DECORATOR = re.compile(r"^\s*@micropython\.(native|viper|asm_(\w+))", re.MULTILINE)


@dataclass(frozen=True)
class Machine:
    """The code that a board's firmware can run.

    Attributes:
        arch: mpy-cross's -march, "" if the firmware takes no native code.
        assemblers: inline assemblers that the firmware has, such as "thumb".
        mpy: (version, sub-version) of its .mpy files.
    """

    arch: str
    assemblers: frozenset[str] = field(default_factory=frozenset)
    mpy: tuple[int, int] = _MPY_VERSION

    @staticmethod
    def of(mpy: int, assemblers=()) -> Machine:
        """Return the Machine for sys.implementation._mpy, which is 0 without .mpy support."""
        number = mpy >> 10 & 15
        arch = _ARCHS[number] if number < len(_ARCHS) else ""
        return Machine(arch, frozenset(assemblers if arch else ()), (mpy & 255, mpy >> 8 & 3))

    @staticmethod
    def for_arch(arch: str) -> Machine:
        """Return the Machine of a default build: on ARM it has the inline assembler."""
        return Machine(arch, frozenset({"thumb"} if arch.startswith("armv") else ()))

    @property
    def number(self) -> int:
        """Number of the architecture in mpconnxr.forms."""
        return _ARCHS.index(self.arch)

    @property
    def takes_mpy(self) -> bool:
        """True if it can import the output of mpy-cross."""
        return self.mpy == _MPY_VERSION

    def runs(self, source: str) -> bool:
        """Return True if it has the emitters that a module's decorators name."""
        emitters = _DECORATOR.findall(source)
        assemblers = {assembler for _, assembler in emitters if assembler}
        native = {ASSEMBLERS[self.arch]} if self.arch in ASSEMBLERS and self.takes_mpy else set()
        return not emitters or bool(self.arch) and assemblers <= self.assemblers | native


def is_native(source: str) -> bool:
    """Return True if a module has functions for the native emitters."""
    return bool(_DECORATOR.search(source))


def plain(source: str) -> str:
    """Return a module that is written once for Python and viper, without its viper decorators."""
    lines = source.split("\n")
    return "\n".join("" if _is_for_viper(line) else line for line in lines)


def _is_for_viper(line):
    return line.startswith(("@micropython.", "COMMON = True"))
