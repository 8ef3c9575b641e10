"""Whether a model has room in a board's memory, before the board is touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from tools.machine import Machine
from tools.mpy import heap

from .boards import Board
from .code import File
from .errors import DeployError
from .model_file import ModelFile

# Of each step that the converter makes of one that it cuts, with kernels or as a program.
STEP_NBYTES = 550
# Measured on the emulated Pico with the models of tests/device/test_estimates.py, with kernels: of
# each tensor that a step takes, its views, parameters and part of the closure; and what loading
# has in use beside the file's tables: objects of its own, the package's classes, garbage.
_OPERAND_NBYTES, _LOADING = 220, 16_500
_OF_SOURCE = 0.6  # bytes for each byte of a source that the board compiles, comments included
# The same of a program: for each byte of its .mpy files, and altogether.
_PROGRAM, _PROGRAM_IN_ROM = (1.28, 1200), (0.62, 1700)
_PARTS = {
    "tensors": "tensors",
    "window": "window for weights",
    "held": "weights and tables",
    "code": "code",
    "steps": "steps",
}
_VERIFY = ("golden", "rare")  # modules of the package that verifying imports


@dataclass(frozen=True)
class Needs:
    """Estimated bytes of heap for a model on a board, while it is loaded and in its first run.

    least: of tensors those that no option of the converter spares; verifying: more of them while
    golden vectors are verified, with kernels.
    """

    tensors: int
    window: int
    held: int
    code: int
    steps: int
    least: int = 0
    verifying: int = 0

    @property
    def total(self) -> int:
        """Bytes of heap altogether."""
        return self.tensors + self.window + self.held + self.code + self.steps

    @property
    def one_piece(self) -> int:
        """Bytes that must lie in one piece."""
        return self.tensors + self.window

    @property
    def parts(self) -> dict[str, int]:
        """What adds up to the total."""
        return {name: getattr(self, name) for name in _PARTS}

    def __str__(self) -> str:
        parts = self.parts.items()
        return ", ".join(f"{_PARTS[name]} {n:,}" for name, n in parts if n)


def needs_of(
    model: ModelFile,
    code: list[File],
    in_place: bool,
    code_in_place: bool = False,
    program_for: Machine | None = None,
    second_core: int = 0,
) -> Needs:
    """in_place: the weights, code_in_place: bytecode is used where it lies in the flash;
    program_for: None for a model with kernels; second_core: bytes for one.
    """
    if program_for:
        cost = _PROGRAM_IN_ROM if code_in_place else _PROGRAM
        needs = _needs_of_program(model, code, in_place, cost)
        return replace(needs, steps=needs.steps + second_core)
    window = model.streamed_nbytes - model.arena_nbytes
    held = model.tables_nbytes + model.held_nbytes
    return Needs(
        tensors=model.arena_nbytes + model.state_nbytes,
        window=0 if in_place else window,
        held=0 if in_place else held,
        code=_code_nbytes([f for f in code if f.loaded], code_in_place),
        steps=_OPERAND_NBYTES * model.operands + _LOADING,
        least=model.borders_nbytes + model.state_nbytes,
        verifying=(0 if in_place else model.golden_nbytes)
        + _code_nbytes([f for f in code if PurePosixPath(f.path).stem in _VERIFY], code_in_place),
    )


def _code_nbytes(files, in_place):
    """Of modules in memory: compiled ones by what is in them, sources by their length."""
    modules = [heap.imported(f.data, in_place) for f in files if f.path.endswith(".mpy")]
    names = frozenset().union(*(module.names for module in modules))
    sources = sum(len(f.data) for f in files if not f.path.endswith(".mpy"))
    compiled = sum(module.nbytes for module in modules) + heap.names_nbytes(names, in_place)
    return compiled + int(_OF_SOURCE * sources)


def _needs_of_program(model, code, in_place, cost):
    """Its tables and steps are part of its code. cost: for a byte of that, and altogether."""
    factor, loading = cost
    return Needs(
        tensors=model.arena_nbytes + model.state_nbytes,
        window=0 if in_place else model.streamed_nbytes - model.arena_nbytes,
        held=0 if in_place else model.held_nbytes,
        code=int(factor * sum(len(f.data) for f in code if f.loaded)),
        steps=loading,
        least=model.borders_nbytes + model.state_nbytes,
    )


@dataclass(frozen=True)
class Room:
    """What a board has for a model, in bytes, None where that is not known.

    heap, piece: free, altogether and in one piece; files: of its whole file system; is_kind: it is
    what boards of its kind have, not what one at hand says.
    """

    heap: int | None
    piece: int | None = None
    files: int | None = None
    is_kind: bool = False

    @property
    def heap_text(self) -> str:
        """'about 35,000 are free there'."""
        return f"about {self.heap:,} are free there" if self.is_kind else f"{self.heap:,} are free"


def room_of(board: Board) -> Room:
    """Return what a kind of board has, as far as its description says."""
    return Room(board.free_heap_bytes, files=board.filesystem_bytes, is_kind=True)


def shortage(needs: Needs, file_nbytes: int, room: Room) -> str:
    """Return what a board lacks for a model: of its file system, of its arena, of its heap.

    Args:
        needs: of its heap.
        file_nbytes: of what goes into the file system.
        room: what the board has.

    Returns:
        A sentence without its end, "" if the model fits.

    """
    if room.files and file_nbytes > room.files:
        return f"its files take {file_nbytes:,} bytes, the whole file system has {room.files:,}"
    if room.heap is None:
        return ""
    if needs.least > room.heap:
        alone = f"its inputs or outputs alone take {needs.least:,} bytes of heap"
        return f"{alone}; {room.heap_text}"
    if needs.total > room.heap:
        return f"it needs about {needs.total:,} bytes of heap ({needs}); {room.heap_text}"
    if room.piece is not None and needs.one_piece > room.piece:
        return (
            f"it needs {needs.one_piece:,} bytes of heap in one piece, the largest free one has "
            f"{room.piece:,}"
        )
    return ""


def check(needs: Needs, file_nbytes: int, room: Room, remedy: Callable[[Needs], str]) -> None:
    """Raise DeployError, with what is missing and what would help, if a model does not fit.

    Args:
        needs: of its heap.
        file_nbytes: of what goes into the file system.
        room: what the board has.
        remedy: tells what would help. It is asked only if the model does not fit.

    """
    if lack := shortage(needs, file_nbytes, room):
        raise DeployError(f"too large for this board: {lack}. {remedy(needs)}")


def check_verifying(needs: Needs, room: Room) -> None:
    """Raise DeployError if there is heap for a model, but not for its golden vectors beside it."""
    wanted = needs.total + needs.verifying
    if room.heap is not None and wanted > room.heap:
        raise DeployError(
            f"the model fits, but to verify it on the board takes about {wanted:,} bytes of heap; "
            f"{room.heap:,} are free: give --no-verify"
        )


def warning(needs: Needs, file_nbytes: int, board: Board, remedy: Callable[[Needs], str]) -> str:
    """Return one line if a board that is not at hand has too little room, as far as is known."""
    room = room_of(board)
    lack = shortage(needs, file_nbytes, room)
    if not lack:
        return ""
    fits_files = not shortage(needs, file_nbytes, replace(room, heap=None))
    if fits_files and needs.code + needs.steps >= room.heap:  # also without tensors and weights
        advice = "Frozen into the firmware the code takes less of it: docs/mip.md."
    else:
        advice = remedy(needs)
    return f"too large for {board.name}: {lack}. {advice}"
