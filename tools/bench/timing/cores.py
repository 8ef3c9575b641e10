"""Cycles of instructions on each core, from the tables of the cores' reference manuals.

Assumes memory without wait states and no interrupts. What the manuals leave open is decided as
`Core.note` says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from .blocks import Block
from .thumb import PC, SP, Op, decoded

_COMPUTED = ("data", "multiply", "multiply and add", "long multiply", "dsp multiply", "divide")
_LOADS = ("load", "float load")
_STORES = ("store", "store indexed", "float store")
_MANY = ("load many", "store many", "load many and pc")


@dataclass(frozen=True)
class Core:
    """The timing of one core.

    Attributes:
        source: the manual.
        note: the value chosen where the manual has a range.
        cycles: cycles by kind of instruction; 1 for other kinds.
        refills: cycles to refill the pipeline after a taken branch, by kind of instruction.
        pipelines: neighbouring loads overlap, an address computed by the previous instruction
            costs a cycle, and code behind the system bus waits for loads (3.3.3 of the Cortex-M4's
            manual).
    """

    name: str
    source: str
    note: str
    cycles: dict[str, float]
    refills: dict[str, int]
    pipelines: bool = True

    def of(self, op: Op) -> float:
        """Return the cycles of an isolated instruction whose branch is not taken."""
        base = self.cycles.get(op.kind, 1)
        return base + op.n if op.kind in _MANY else base


_M0PLUS = {
    "load": 2,
    "store": 2,
    "store indexed": 2,
    "load many": 1,
    "store many": 1,
    "load many and pc": 3,
    "call": 3,
    "branch": 2,
    "indirect call": 2,
    "indirect branch": 2,
    "move to pc": 2,
    "system": 3,
}
_M4 = {
    "load": 2,
    "store": 1,
    "store indexed": 2,
    "load many": 1,
    "store many": 1,
    "load many and pc": 1,
    "load pc": 2,
    "table branch": 3,
    "divide": 7,
    "system": 2,
    "float load": 2,
    "float store": 2,
    "float move many": 2,
    "float multiply and add": 3,
    "float divide": 14,
}
_M3 = _M4 | {"multiply and add": 2, "long multiply": 4, "long multiply and add": 5}
_REFILLS = {
    "branch": 1,
    "conditional branch": 1,
    "call": 1,
    "indirect branch": 2,
    "indirect call": 2,
    "move to pc": 2,
    "load pc": 3,
    "load many and pc": 3,
    "table branch": 3,
}
CORES = {
    "mps2-an385-v6m": Core(
        "Cortex-M0+",
        "Cortex-M0+ TRM r0p1, table 3-1",
        "the multiplier of one cycle, as the RP2040 has it",
        _M0PLUS,
        {"conditional branch": 1},
        pipelines=False,
    ),
    "mps2-an385": Core(
        "Cortex-M3",
        "Cortex-M3 TRM r2p1, table 3-1 and 3.3.3",
        "long products 4 cycles of 3 to 5, with a sum 5 of 4 to 7, divisions 7 of 2 to 12",
        _M3,
        _REFILLS,
    ),
    "mps2-an386": Core(
        "Cortex-M4F",
        "Cortex-M4 TRM r0p1, tables 3-1 and 7-1, and 3.3.3",
        "divisions 7 cycles of 2 to 12",
        _M4,
        _REFILLS,
    ),
    "mps2-an505": Core(
        "Cortex-M33",
        "as a Cortex-M4, for its TRM has no table",
        "pairs of 16-bit instructions that the core issues together are not",
        _M4,
        _REFILLS,
    ),
}


@dataclass(frozen=True)
class Estimate:
    """The estimated cycles of a run.

    Attributes:
        instructions: exact count.
        cycles: estimate, `fetched` included.
        fetched: cycles that code behind the system bus waits.
        loaded: instructions of code in RAM, that is of loops.
    """

    instructions: int
    cycles: float
    fetched: float = 0.0
    loaded: int = 0


def estimate(
    blocks: Iterable[Block], core: Core, is_in_ram: Callable[[int], bool] = lambda address: False
) -> Estimate:
    """Sum up the cycles of all blocks' runs.

    Args:
        blocks: the blocks that ran, with their counts.
        core: its timing.
        is_in_ram: returns True if code at an address is in RAM.
    """
    instructions, cycles, fetched, loaded = 0, 0.0, 0.0, 0
    for block in blocks:
        ops = _ops(block.code)
        instructions += len(ops) * block.runs
        own = _in_order(ops, core)
        refill = _refill(ops, block.address, core)
        cycles += own * block.runs + refill * block.taken
        if not is_in_ram(block.address):
            continue
        loaded += len(ops) * block.runs
        if core.pipelines:
            waits = max(_bus_cycles(ops, block) - own, 0)
            added = waits * block.runs + block.taken
            cycles, fetched = cycles + added, fetched + added
    return Estimate(instructions, cycles, fetched, loaded)


@cache
def _ops(code: bytes) -> tuple[Op, ...]:
    return tuple(decoded(code))


def _in_order(ops: Sequence[Op], core: Core) -> float:
    """Return the cycles of a block whose branch is not taken."""
    total, before = 0.0, None
    for op in ops:
        total += core.of(op)
        if core.pipelines and before is not None:
            total += _between(before, op)
        before = op
    return total


def _between(before: Op, op: Op) -> int:
    """Return how many cycles more (or fewer) an instruction takes after the one before it."""
    if op.kind in (*_LOADS, *_STORES, *_MANY):
        if before.kind in _COMPUTED and before.writes & op.uses - {PC, SP}:
            return 1
        overlaps = before.kind in _LOADS and not before.writes & op.uses
        return -1 if overlaps and op.kind in (*_LOADS, "store indexed", "float store") else 0
    if op.kind.startswith("float") and before.kind in (
        "float sum or product",
        "float multiply and add",
    ):
        return int(bool(before.writes & op.uses))
    return 0


def _refill(ops: Sequence[Op], address: int, core: Core) -> int:
    """Return the cycles that a taken branch at the end of the block adds."""
    last = ops[-1]
    refill = core.refills.get(last.kind, 0)
    if not core.pipelines or last.to is None:
        return refill
    start = address + sum(op.nbytes for op in ops[:-1]) + last.to
    if start == address:  # a loop: its first instruction is known
        return refill + (address % 4 == 2 and ops[0].nbytes == 4)
    return refill


def _bus_cycles(ops: Sequence[Op], block: Block) -> int:
    """Return the number of words that a block fetches, loads and stores."""
    end = block.address + len(block.code)
    words = math.ceil(end / 4) - block.address // 4
    moved = sum(op.n for op in ops if op.kind in (*_LOADS, *_STORES, *_MANY))
    return words + moved
