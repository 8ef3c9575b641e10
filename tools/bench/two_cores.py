"""Counts a run on two cores: the longer half of each step, and what is not cut."""

from __future__ import annotations

from dataclasses import dataclass

from tools.converter.convert import Converted
from tools.machine import Machine
from tools.micropython import TargetError, get_target
from tools.program.build import build
from tools.program.call import CannotRecord

from .measure import input_files, printed, script_files


@dataclass(frozen=True)
class Pair:
    """Instructions. one: of a run of the program for one core; parts: of each core from meeting to
    meeting; hand_over: of all meetings, and around the run; more_nbytes: of the arena.
    """

    one: int
    parts: tuple[tuple[int, int], ...]
    hand_over: int
    more_nbytes: int

    @property
    def critical(self) -> int:
        """Of the longest way through a run."""
        return sum(map(max, self.parts)) + self.hand_over

    @property
    def alone(self) -> int:
        """Of what the first core does while the second one waits."""
        return sum(a for a, b in self.parts if b == 0)


def count(converted: Converted, target_name: str) -> Pair:
    """Runs both programs there. Raises TargetError."""
    target = get_target(target_name)
    if not hasattr(target, "counter"):
        raise TargetError(f"{target_name}: has no counter of instructions")
    machine = Machine.for_arch(target.arch)
    found, arenas = [], []
    for n_cores in (1, 2):
        try:
            made = build(converted.data, machine, stream=False, n_cores=n_cores)
        except CannotRecord as e:
            raise TargetError(f"{target_name}: no program for {n_cores} cores: {e}") from e
        files = input_files(converted) | script_files(target, "on_device_cores.py") | made.files
        del files["mpconnxr"]
        found.append(printed(target, files))
        arenas.append(made.arena_nbytes)
    one, two = found
    each = target.counter[1]

    def instructions(ticks: int) -> int:
        return round((ticks - two["empty"]) / each)

    parts = tuple((instructions(a), instructions(b) if b else 0) for a, b in two["parts"])
    meetings = sum(b > 0 for _, b in parts) * round(two["meeting"] / each)
    hand_over = meetings + instructions(two["around"]) + instructions(two["notices"])
    return Pair(instructions(one["run"]), parts, hand_over, arenas[1] - arenas[0])
