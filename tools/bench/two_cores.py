"""Count the instructions of a run on two cores; `python -m tools.bench` prints them."""

from __future__ import annotations

from dataclasses import dataclass

from tools.converter.convert import Converted
from tools.machine import Machine
from tools.micropython import TargetError, get_target
from tools.program.build import build
from tools.program.call import CannotRecord

from .measure import FOLDER, input_files, printed, script_files


@dataclass(frozen=True)
class TwoCoreCount:
    """Instruction counts of a model's programs for one and for two cores.

    Attributes:
        one: instructions of a run on one core.
        parts: instructions of the (first, second) core between two meetings of the cores; 0 for
            the second one where the first one works alone.
        hand_over: instructions of all meetings, and of starting and ending a run on two cores.
        more_nbytes: bytes by which the arena for two cores is larger.
    """

    one: int
    parts: tuple[tuple[int, int], ...]
    hand_over: int
    more_nbytes: int

    @property
    def critical(self) -> int:
        """Instructions of the critical path of a run."""
        return sum(map(max, self.parts)) + self.hand_over

    @property
    def alone(self) -> int:
        """Instructions of the first core while the second one waits."""
        return sum(a for a, b in self.parts if b == 0)


def count(converted: Converted, target_name: str) -> TwoCoreCount:
    """Run the programs for one and for two cores on a target, and count their instructions.

    Raises:
        TargetError: if the target cannot count, or a program cannot be built or run.
    """
    target = get_target(target_name)
    if not hasattr(target, "counter"):
        raise TargetError(f"{target_name}: cannot count instructions")
    machine = Machine.for_arch(target.arch)
    reports, arenas = [], []
    for n_cores in (1, 2):
        try:
            made = build(converted.data, machine, stream=False, n_cores=n_cores)
        except CannotRecord as e:
            raise TargetError(f"{target_name}: no program for {n_cores} cores: {e}") from e
        script = script_files(target, FOLDER / "on_device_cores.py")
        files = input_files(converted) | script | made.files
        del files["mpconnxr"]
        reports.append(printed(target, files))
        arenas.append(made.arena_nbytes)
    one, two = reports
    per_instruction = target.counter[1]

    def instructions(ticks: int) -> int:
        return round((ticks - two["empty"]) / per_instruction)

    parts = tuple((instructions(a), instructions(b) if b else 0) for a, b in two["parts"])
    meetings = sum(b > 0 for _, b in parts) * round(two["meeting"] / per_instruction)
    hand_over = meetings + instructions(two["around"]) + instructions(two["notices"])
    return TwoCoreCount(instructions(one["run"]), parts, hand_over, arenas[1] - arenas[0])
