"""Count how often each block of instructions runs on an ARM board in QEMU (plugin: blocks.c)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tools.elf import Elf
from tools.micropython import TargetError
from tools.micropython.plugin import plugin
from tools.micropython.qemu import QemuTarget

_SOURCE = Path(__file__).with_name("blocks.c")


@dataclass(frozen=True)
class Block:
    """Instructions with a branch only at their end.

    Attributes:
        address: address of the first instruction.
        code: the instructions.
        runs: how often the block ran.
        taken: how often its branch was taken.
    """

    address: int
    code: bytes
    runs: int
    taken: int


def option(system: str, report: Path) -> str:
    """Return the value of QEMU's option -plugin; compile the plugin if needed.

    Raises:
        TargetError: if it does not compile.
    """
    return f"{plugin(system, _SOURCE)},report={report}"


def counting(target: QemuTarget, report: Path) -> QemuTarget:
    """Return a board with a plugin that counts the parts which its scripts mark."""
    return replace(target, plugin=option(target.system, report))


def is_loaded(target: QemuTarget) -> Callable[[int], bool]:
    """Return a function of an address: True if code there is not part of the firmware."""
    code = [s for s in Elf.of(target.build()).sections if s.is_code]
    spans = [(s.address, s.address + s.nbytes) for s in code]
    return lambda address: not any(start <= address < end for start, end in spans)


def blocks_in(report: Path) -> Sequence[Block]:
    """Read the blocks that ran between the marks.

    Raises:
        TargetError: if the plugin wrote no report.
    """
    if not report.is_file():
        raise TargetError(
            "QEMU's plugin wrote no report: the script made no marks, or the plugin failed"
        )
    blocks = []
    for line in report.read_text().splitlines():
        address, runs, taken, code = line.split()
        blocks.append(Block(int(address, 16), bytes.fromhex(code), int(runs), int(taken)))
    return blocks
