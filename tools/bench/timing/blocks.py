"""How often each block of instructions runs on an ARM board in QEMU, told by blocks.c."""

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
    """Instructions without a branch but at the end; taken: how often that one was."""

    address: int
    code: bytes
    runs: int
    taken: int


def option(system: str, report: Path) -> str:
    """Of QEMU's -plugin. Raises TargetError."""
    return f"{plugin(system, _SOURCE)},report={report}"


def counting(target: QemuTarget, report: Path) -> QemuTarget:
    """The same board, whose scripts mark what is counted."""
    return replace(target, plugin=option(target.system, report))


def is_loaded(target: QemuTarget) -> Callable[[int], bool]:
    """Whether code at an address is no part of the firmware."""
    code = [s for s in Elf.of(target.build()).sections if s.is_code]
    spans = [(s.address, s.address + s.nbytes) for s in code]
    return lambda address: not any(start <= address < end for start, end in spans)


def blocks_in(report: Path) -> Sequence[Block]:
    """Those between the marks. Raises TargetError."""
    if not report.is_file():
        raise TargetError("the run made no marks, or QEMU's plugin failed")
    found = []
    for line in report.read_text().splitlines():
        address, runs, taken, code = line.split()
        found.append(Block(int(address, 16), bytes.fromhex(code), int(runs), int(taken)))
    return found
