"""Where a model fits and how long it takes: estimates for each of the boards in boards/."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tools.deploy.boards import Board, load_boards
from tools.deploy.model_file import ModelFile, parse_model
from tools.deploy.modules import PACKAGE

from ..converted import Converted
from ..ir import walk
from . import device_code
from .costs import Range, is_measured, kind_of, model_instructions, step_bytes

# Of a loaded model besides its steps. A step's bytes are the most that any of its kind took, so
# that their sum is rather too high. tests/host/test_estimates.py compares with what is measured.
_MODEL_BYTES = 1_000
_STEPS_LEAST = 0.6
# What a Fit may say, and how good that is.
VERDICTS = {
    "fits": "yes",
    "may fit": "partly",
    "weights in place": "partly",
    "heap not known": "partly",
    "too large": "no",
    "not able": "no",
}


@dataclass(frozen=True)
class Fit:
    """An estimate for one board, in bytes and seconds.

    code_bytes: of what flash.py copies for it; file_bytes: those and the model;
    ram: the heap for code, prepared steps, and the arena with the weights that are streamed and
    those that are held; in_place: without weights, where they are read in place from flash;
    seconds: of a run, None where instructions were not counted; guessed: kinds of steps whose
    time is taken from that of others.
    """

    board: Board
    code_bytes: int
    file_bytes: int
    ram: Range
    in_place: Range
    seconds: Range | None
    guessed: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """One of VERDICTS."""
        heap = self.board.free_heap_bytes
        if self.board.unable:
            return "not able"
        if heap is None:
            return "heap not known"
        if self.ram.most <= heap:
            return "fits"
        if self.ram.likely <= heap:
            return "may fit"
        if self.in_place.likely <= heap and (self.board.romfs or self.board.platform == "rp2"):
            return "weights in place"
        return "too large"


def fits(converted: Converted, emulated: bool = False) -> list[Fit]:
    """One for each known board, in the order of their names; emulated: for those instead."""
    model = _own_left_out(parse_model("model.bin", converted.data))
    boards = [board for board in load_boards() if board.emulated == emulated]
    machines = {board.machine for board in boards}
    sizes = {machine: device_code.sizes(model, machine) for machine in machines}
    return [fit(converted, model, board, *sizes[board.machine]) for board in boards]


def fit_of(converted: Converted, board: Board) -> Fit:
    """For one board."""
    model = _own_left_out(parse_model("model.bin", converted.data))
    return fit(converted, model, board, *device_code.sizes(model, board.machine))


def fit(converted: Converted, model: ModelFile, board: Board, given: int, loaded: int) -> Fit:
    """given, loaded: bytes of the .mpy that the board gets, and of those that load() imports."""
    rest = _heap(converted, loaded)
    held = model.streamed_nbytes + model.held_nbytes
    return Fit(
        board,
        given,
        given + len(converted.data),
        rest + Range(held, held, held),
        rest + Range(*[model.arena_nbytes] * 3),
        _seconds(converted.graph.steps, board),
        _guessed(converted.graph.steps, board.counted_on),
    )


def _own_left_out(model):
    """Without operators of one's own, which are no part of mpconnxr."""
    kernels = [k for k in model.kernels if (PACKAGE / "ops" / f"{k}.py").exists()]
    return replace(model, kernels=kernels)


def _guessed(steps, target):
    if not target:
        return ()
    return tuple(sorted({kind_of(s) for s in walk(steps) if not is_measured(s, target)}))


def _heap(converted, code_bytes):
    """Of the code and of all that is prepared, without arena and weights."""
    prepared = sum(step_bytes(step) for step in walk(converted.graph.steps))
    state = converted.plan.state_bytes
    return Range(*(code_bytes * factor for factor in device_code.HEAP)) + Range(
        state + prepared * _STEPS_LEAST,
        state + prepared * (1 + _STEPS_LEAST) / 2,
        state + prepared + _MODEL_BYTES,
    )


def _seconds(steps, board):
    if board.unable or not board.counted_on:
        return None
    cycles = model_instructions(steps, board.counted_on).times(*board.cycles_per_instruction)
    return cycles.times(1 / board.clock_hz, 1 / board.clock_hz)
