"""Estimate where a model fits and how long it takes, for each of the boards in boards/."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools import package
from tools.deploy.boards import Board, load_boards
from tools.deploy.fit import Needs, needs_of
from tools.deploy.model_file import ModelFile, parse_model
from tools.deploy.modules import Package, built_package
from tools.machine import Machine
from tools.program.build import DeploymentPlan, plan_deployment

from ..converted import Converted
from ..ir import walk
from .costs import Range, is_measured, kind_of, model_instructions

OFF = 0.1  # relative error of an estimated heap, which tests/device/test_estimates.py checks
# Verdicts of a Fit, and how good each is.
VERDICTS = {
    "fits": "yes",
    "may fit": "partly",
    "weights in place": "partly",
    "heap not known": "partly",
    "too large": "no",
    "flash too small": "no",
    "not able": "no",
}


@dataclass(frozen=True)
class Fit:
    """An estimate for one board, in bytes and seconds. Sizes are those that flash.py reports.

    Attributes:
        board: the board.
        plan: how the model is deployed to it.
        model_bytes: size of the model file.
        needs: heap with streamed weights.
        in_place: heap with weights that are read from flash.
        seconds: time of a run; None if the board's instructions were not counted.
        guessed: kinds of steps whose time is estimated from the time of other kinds.
    """

    board: Board
    plan: DeploymentPlan
    model_bytes: int
    needs: Needs
    in_place: Needs
    seconds: Range | None
    guessed: tuple[str, ...]

    @property
    def code_bytes(self) -> int:
        """Return the bytes of the files that are deployed besides the model."""
        return sum(len(f.data) for f in self.plan.files)

    @property
    def file_bytes(self) -> int:
        """Return the bytes of all files."""
        return self.code_bytes + self.model_bytes

    @property
    def verdict(self) -> str:
        """Return one of VERDICTS: by the file system first, then by the heap."""
        capacity = self.board.filesystem_bytes
        if not self.board.unable and capacity and self.file_bytes > capacity:
            return "flash too small"
        return self.heap_verdict

    @property
    def heap_verdict(self) -> str:
        """Return one of VERDICTS, without regard to the file system."""
        heap = self.board.free_heap_bytes
        if self.board.unable:
            return "not able"
        if heap is None:
            return "heap not known"
        if self.needs.total * (1 + OFF) <= heap:
            return "fits"
        if self.needs.total <= heap:
            return "may fit"
        if self.in_place.total <= heap and (self.board.romfs or self.board.platform == "rp2"):
            return "weights in place"
        return "too large"


def fits(converted: Converted, emulated: bool = False) -> list[Fit]:
    """Return a Fit for each known board, by name.

    Args:
        converted: the conversion.
        emulated: return a Fit for emulated boards instead of real ones.
    """
    model, package = (
        _without_own_kernels(parse_model("model.bin", converted.data)),
        built_package(),
    )
    boards = [board for board in load_boards() if board.emulated == emulated]
    plans = {machine: _plan_of(model, package, machine) for machine in {b.machine for b in boards}}
    return [_fit(converted, model, board, plans[board.machine]) for board in boards]


def fit_of(converted: Converted, board: Board) -> Fit:
    """Return the Fit for one board."""
    model = _without_own_kernels(parse_model("model.bin", converted.data))
    return _fit(converted, model, board, _plan_of(model, built_package(), board.machine))


def _plan_of(model: ModelFile, package: Package, machine: Machine) -> DeploymentPlan:
    return plan_deployment(model, package, machine, in_place=False)


def _fit(converted: Converted, model: ModelFile, board: Board, plan: DeploymentPlan) -> Fit:
    needs = [needs_of(model, plan.files, b, program_for=plan.program_for) for b in (False, True)]
    return Fit(
        board,
        plan,
        len(converted.data),
        *needs,
        _seconds(converted.graph.steps, board),
        _guessed(converted.graph.steps, board.counted_on),
    )


def _without_own_kernels(model):
    """Return the model without the user's own operators, whose sizes are unknown."""
    kernels = [k for k in model.kernels if (package.KERNELS / f"{k}.py").exists()]
    return replace(model, kernels=kernels)


def _guessed(steps, target):
    if not target:
        return ()
    return tuple(sorted({kind_of(s) for s in walk(steps) if not is_measured(s, target)}))


def _seconds(steps, board):
    if board.unable or not board.counted_on:
        return None
    cycles = model_instructions(steps, board.counted_on).times(*board.cycles_per_instruction)
    return cycles.times(1 / board.clock_hz, 1 / board.clock_hz)
