"""Estimate the heap that a model needs, and check it against a board before anything is copied."""

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

# Heap of each step that the converter adds by cutting one, with kernels or as a program.
STEP_NBYTES = 550
# Measured on the emulated Pico with the models of tests/device/test_estimates.py, with kernels:
# per tensor of a step its views, parameters and part of the closure; for loading, beside the
# file's tables, its own objects, the package's classes, and garbage.
_OPERAND_NBYTES, _LOADING = 220, 16_500
_PER_SOURCE_BYTE = 0.6  # bytes per byte of a source that the board compiles, comments included
# For a program: bytes of heap per byte of its .mpy files, and constant bytes.
_PROGRAM, _PROGRAM_IN_ROM = (1.28, 1200), (0.62, 1700)
_PARTS = {
    "tensors": "tensors",
    "window": "buffer for weights",
    "held": "weights and tables in memory",
    "code": "code",
    "steps": "steps",
}
_SMALLER = "No option makes it fit: export the model for smaller inputs"
_VERIFY = ("golden", "rare")  # modules that a verification imports


@dataclass(frozen=True)
class Needs:
    """Estimated bytes of heap for a model while it is loaded and in its first run.

    Attributes:
        tensors: arena and state.
        window: buffer for streamed weights.
        held: weights and tables in RAM.
        code: modules.
        steps: objects of the steps, and of loading.
        least: the part of `tensors` that no option of the converter reduces.
        verifying: additional bytes while golden vectors are verified, with kernels.
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
        """Sum of all parts [bytes]."""
        return self.tensors + self.window + self.held + self.code + self.steps

    @property
    def contiguous(self) -> int:
        """Bytes that must be contiguous."""
        return self.tensors + self.window

    @property
    def parts(self) -> dict[str, int]:
        """The parts of the total, by name."""
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
    """Estimate the heap that a model needs on a board.

    Args:
        model: the model.
        code: the files of its code.
        in_place: weights are read from flash, without a copy.
        code_in_place: bytecode runs from flash, without a copy.
        program_for: the machine that the model is a program for; None for a model with kernels.
        second_core: bytes for a second core.
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
        least=model.interface_nbytes + model.state_nbytes,
        verifying=(0 if in_place else model.golden_nbytes)
        + _code_nbytes([f for f in code if PurePosixPath(f.path).stem in _VERIFY], code_in_place),
    )


def _code_nbytes(files, in_place):
    """Return the heap of modules: compiled ones by their contents, sources by their length."""
    modules = [heap.imported(f.data, in_place) for f in files if f.path.endswith(".mpy")]
    names = frozenset().union(*(module.names for module in modules))
    sources = sum(len(f.data) for f in files if not f.path.endswith(".mpy"))
    compiled = sum(module.nbytes for module in modules) + heap.names_nbytes(names, in_place)
    return compiled + int(_PER_SOURCE_BYTE * sources)


def _needs_of_program(model, code, in_place, cost):
    """Estimate the heap of a program, whose tables and steps are part of its code.

    Args:
        model: the model.
        code: the files of its code.
        in_place: weights are read from flash, without a copy.
        cost: bytes of heap for each byte of loaded code, and constant bytes.
    """
    factor, loading = cost
    return Needs(
        tensors=model.arena_nbytes + model.state_nbytes,
        window=0 if in_place else model.streamed_nbytes - model.arena_nbytes,
        held=0 if in_place else model.held_nbytes,
        code=int(factor * sum(len(f.data) for f in code if f.loaded)),
        steps=loading,
        least=model.interface_nbytes + model.state_nbytes,
    )


@dataclass(frozen=True)
class Memory:
    """The memory that a board has for a model, in bytes; None where that is not known.

    Attributes:
        heap: free heap.
        contiguous: largest contiguous free block of the heap.
        files: size of the whole file system.
        is_typical: True for typical figures of such boards, False for those of a connected one.
    """

    heap: int | None
    contiguous: int | None = None
    files: int | None = None
    is_typical: bool = False

    @property
    def heap_text(self) -> str:
        """The free heap as a clause, such as 'about 35,000 are free there'."""
        return (
            f"about {self.heap:,} are free there" if self.is_typical else f"{self.heap:,} are free"
        )


def memory_of(board: Board) -> Memory:
    """Return the memory of a board that is not connected, from its description."""
    return Memory(board.free_heap_bytes, files=board.filesystem_bytes, is_typical=True)


def shortage(needs: Needs, file_nbytes: int, memory: Memory) -> str:
    """Return why a model does not fit a board, as a sentence without its end; "" if it fits.

    Args:
        needs: heap that the model needs.
        file_nbytes: bytes that go into the file system.
        memory: memory of the board.
    """
    if memory.files and file_nbytes > memory.files:
        return f"its files take {file_nbytes:,} bytes, the whole file system has {memory.files:,}"
    if memory.heap is None:
        return ""
    if needs.least > memory.heap:
        alone = f"its inputs or outputs alone take {needs.least:,} bytes of heap"
        return f"{alone}; {memory.heap_text}"
    if needs.total > memory.heap:
        return f"it needs about {needs.total:,} bytes of heap ({needs}); {memory.heap_text}"
    if memory.contiguous is not None and needs.contiguous > memory.contiguous:
        return (
            f"it needs {needs.contiguous:,} contiguous bytes of heap; the largest free block has "
            f"{memory.contiguous:,}"
        )
    return ""


def check(needs: Needs, file_nbytes: int, memory: Memory, remedy: Callable[[Needs], str]) -> None:
    """Check that a model fits a board.

    Args:
        needs: heap that the model needs.
        file_nbytes: bytes that go into the file system.
        memory: memory of the board.
        remedy: returns advice; called only if the model does not fit.

    Raises:
        DeployError: if it does not fit, with the lack and the advice.
    """
    if lack := shortage(needs, file_nbytes, memory):
        advice = _SMALLER if _is_interface_too_large(needs, memory) else remedy(needs)
        raise DeployError(f"too large for this board: {lack}. {advice}")


def _is_interface_too_large(needs, memory):
    """Return True if inputs or outputs alone exceed the heap: then no trial is worth its time."""
    return memory.heap is not None and needs.least > memory.heap


def check_verifying(needs: Needs, memory: Memory) -> None:
    """Check that golden vectors fit into the heap besides the model.

    Raises:
        DeployError: if they do not.
    """
    nbytes = needs.total + needs.verifying
    if memory.heap is not None and nbytes > memory.heap:
        raise DeployError(
            f"the model fits, but to verify it on the board takes about {nbytes:,} bytes of heap; "
            f"{memory.heap:,} are free: give --no-verify"
        )


def warning(needs: Needs, file_nbytes: int, board: Board, remedy: Callable[[Needs], str]) -> str:
    """Return a line of warning if a board that is not connected has too little memory, else "".

    Args:
        needs: heap that the model needs.
        file_nbytes: bytes that go into the file system.
        board: description of the board.
        remedy: returns advice.
    """
    memory = memory_of(board)
    lack = shortage(needs, file_nbytes, memory)
    if not lack:
        return ""
    fits_files = not shortage(needs, file_nbytes, replace(memory, heap=None))
    if _is_interface_too_large(needs, memory):
        advice = _SMALLER
    elif (
        fits_files and needs.code + needs.steps >= memory.heap
    ):  # even without tensors and weights
        advice = "Frozen into the firmware the code takes less of it: docs/mip.md."
    else:
        advice = remedy(needs)
    return f"too large for {board.name}: {lack}. {advice}"
