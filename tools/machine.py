"""What code a board can run: its native instructions and inline assemblers."""

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
_MPY_VERSION = (6, 3)  # of what mpy-cross writes; (6, 3) is that of MicroPython 1.23 to 1.29
# Forms of loops in assembler, the best one first.
ASSEMBLER = tuple(form for form in order if not form.startswith(("viper", "plain")))
_DECORATOR = re.compile(r"^\s*@micropython\.(native|viper|asm_(\w+))", re.MULTILINE)


@dataclass(frozen=True)
class Machine:
    """arch: for mpy-cross's -march, "" if the firmware takes no native code; assemblers: inline
    ones that the firmware has, such as "thumb"; mpy: (version, sub-version) of its .mpy files.
    """

    arch: str
    assemblers: frozenset[str] = field(default_factory=frozenset)
    mpy: tuple[int, int] = _MPY_VERSION

    @staticmethod
    def of(mpy: int, assemblers=()) -> Machine:
        """mpy: sys.implementation._mpy, 0 where the firmware takes no .mpy files."""
        number = mpy >> 10 & 15
        arch = _ARCHS[number] if number < len(_ARCHS) else ""
        return Machine(arch, frozenset(assemblers if arch else ()), (mpy & 255, mpy >> 8 & 3))

    @staticmethod
    def for_arch(arch: str) -> Machine:
        """That of MicroPython as it comes: on ARM it has the inline assembler."""
        return Machine(arch, frozenset({"thumb"} if arch.startswith("armv") else ()))

    @property
    def number(self) -> int:
        """The architecture as mpconnxr.forms knows it."""
        return _ARCHS.index(self.arch)

    @property
    def takes_mpy(self) -> bool:
        """Whether what mpy-cross writes can be imported there."""
        return self.mpy == _MPY_VERSION

    def runs(self, source: str) -> bool:
        """Whether it has the emitters that a module's decorators name."""
        wanted = _DECORATOR.findall(source)
        assemblers = {assembler for _, assembler in wanted if assembler}
        native = {ASSEMBLERS[self.arch]} if self.arch in ASSEMBLERS and self.takes_mpy else set()
        return not wanted or bool(self.arch) and assemblers <= self.assemblers | native


def is_native(source: str) -> bool:
    """Whether a module has functions for the native emitters."""
    return bool(_DECORATOR.search(source))


def plain(source: str) -> str:
    """A module that is written once, for Python and viper, as one that is plain only."""
    lines = source.split("\n")
    return "\n".join("" if _is_for_viper(line) else line for line in lines)


def _is_for_viper(line):
    return line.startswith(("@micropython.", "COMMON = True"))
