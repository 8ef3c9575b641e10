"""Whether a model has room in a board's memory, before the board is touched."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .boards import Board
from .code import File
from .device import About
from .errors import DeployError
from .machine import Machine
from .model_file import ModelFile

# Measured on the emulated Pico: heap of a step with its tensors, and of the modules that are in
# memory for each byte of their .mpy (or of source, comments included, which compiles to as much).
STEP_NBYTES = 550
_OF_MPY, _OF_ROM, _OF_SOURCE = 1.4, 1.1, 0.6
_LOADING = 3000  # bytes that the reader has in use while it loads
# The same of a program, loading and running included; on RISC-V garbage stays for longer.
_OF_A_PROGRAM, _OF_ONE_IN_ROM, _LOADING_A_PROGRAM, _MORE_ON_RISCV = 1.25, 0.62, 1700, 5500


@dataclass(frozen=True)
class Needs:
    """Estimated bytes of heap for a model on a board; one_piece: the largest of them in one."""

    tensors: int
    window: int
    held: int
    code: int
    steps: int

    @property
    def total(self) -> int:
        """Bytes of heap altogether."""
        return self.tensors + self.window + self.held + self.code + self.steps

    @property
    def one_piece(self) -> int:
        """Bytes that must lie in one piece."""
        return self.tensors + self.window

    def __str__(self) -> str:
        parts = {
            "tensors": self.tensors,
            "window for weights": self.window,
            "weights and tables": self.held,
            "code": self.code,
            "steps": self.steps,
        }
        return ", ".join(f"{name} {n:,}" for name, n in parts.items() if n)


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
        factor = _OF_ONE_IN_ROM if code_in_place else _OF_A_PROGRAM
        needs = _needs_of_program(model, code, in_place, program_for, factor)
        return replace(needs, steps=needs.steps + second_core)
    factor = {True: _OF_ROM if code_in_place else _OF_MPY, False: _OF_SOURCE}
    window = model.streamed_nbytes - model.arena_nbytes
    held = model.tables_nbytes + model.held_nbytes + model.golden_nbytes
    return Needs(
        tensors=model.arena_nbytes + model.state_nbytes,
        window=0 if in_place else window,
        held=0 if in_place else held,
        code=int(sum(len(f.data) * factor[f.path.endswith(".mpy")] for f in code if f.loaded)),
        steps=STEP_NBYTES * model.steps + _LOADING,
    )


def _needs_of_program(model, code, in_place, machine, factor):
    """Its tables are part of its code."""
    return Needs(
        tensors=model.arena_nbytes + model.state_nbytes,
        window=0 if in_place else model.streamed_nbytes - model.arena_nbytes,
        held=0 if in_place else model.held_nbytes,
        code=int(factor * sum(len(f.data) for f in code if f.loaded)),
        steps=_LOADING_A_PROGRAM + _MORE_ON_RISCV * machine.arch.startswith("rv"),
    )


def check(needs: Needs, about: About) -> None:
    """Raises DeployError, with what is missing and what would help."""
    lacking = needs.total - about.free_heap_bytes
    if lacking > 0:
        raise DeployError(
            f"too large for this board: it needs about {needs.total:,} bytes of heap ({needs}); "
            f"{about.free_heap_bytes:,} are free. {_advice(needs, lacking)}"
        )
    if needs.one_piece > about.largest_bytes:
        lacking = needs.one_piece - about.largest_bytes
        raise DeployError(
            f"too large for this board: it needs {needs.one_piece:,} bytes of heap in one piece, "
            f"the largest free one has {about.largest_bytes:,}. {_advice(needs, lacking)}"
        )


def warning(needs: Needs, board: Board) -> str:
    """One line if a board that is not at hand has too little heap for it, as far as is known."""
    lacking = needs.total - (board.free_heap_bytes or needs.total)
    if lacking <= 0:
        return ""
    advice = _advice(needs, lacking)
    if needs.code + needs.steps >= board.free_heap_bytes:  # also without any weights
        advice = "Frozen into the firmware the code takes less of it: docs/mip.md."
    return (
        f"too large for {board.name}: it needs about {needs.total:,} bytes of heap ({needs}); "
        f"about {board.free_heap_bytes:,} are free there. {advice}"
    )


def _advice(needs, lacking):
    """Options of the converter that lower what is large, the one that costs least first."""
    found = []
    if needs.window > lacking:
        found.append(f"--window {needs.window - lacking} (fewer weights in memory at a time)")
    if needs.tensors > lacking:
        found.append(f"--arena {needs.tensors - lacking} (convolutions by bands of rows)")
    found.append("--quantize int8 or --weights int8 where it is in floats")
    return f"Convert it again with {', or '.join(found)}."
