"""What would make a model fit a board that is too small for it, for flash to say.

Options are named only if the converter took them for this model, and the board has room then.
"""

from __future__ import annotations

import dataclasses
import hashlib
import shlex
import tempfile
from pathlib import Path

from tools.deploy.boards import Board
from tools.deploy.fit import Needs
from tools.deploy.model_file import ModelFile

from .search import Advice, advise
from .show import commands
from .trial import Task, Trial, tried

_SECONDS = 60.0  # of trials
# What changes results more than its user may want, or needs samples: advise measures that.
_NOT_NAMED = ("--quantize", "--float")


def remedy(path: Path, model: ModelFile, board: Board | None, needs: Needs) -> str:
    """Return a sentence or two: commands that were tried, else where to look.

    Args:
        path: of the model's file. The .onnx that it was made from is looked for beside it.
        model: what is in the file.
        board: with the heap of the one at hand; None for an unknown one.
        needs: of the model as it is.

    """
    onnx = path.with_suffix(".onnx")
    if board is None:
        return "mpconnxr advise tries for known boards what would help."
    ask = f"{shlex.join(['mpconnxr', 'advise', str(onnx), '--board', board.name])}"
    if not _is_source(onnx, model):
        return f"{ask}, with the path of the .onnx, tries what would help."
    with tempfile.TemporaryDirectory() as folder:
        task = Task(onnx, board, (), None, Path(folder), compares=False)
        advice = advise(task, _SECONDS, _Attempts().attempt)
        return _said(advice, task, path, needs) or f"{ask} tries what would help."


class _Attempts:
    """Trials until one fits."""

    def __init__(self) -> None:
        self._found = False

    def attempt(self, task: Task, options: tuple[str, ...], seconds: float) -> Trial:
        """Return a trial; one without a model for what is not to be named."""
        if self._found or any(name in options for name in _NOT_NAMED):
            return Trial(options, refused="not tried")
        trial = tried(task, options, seconds)
        self._found = trial.fits
        return trial


def _is_source(onnx: Path, model: ModelFile) -> bool:
    try:
        with onnx.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == model.source_digest
    except OSError:
        return False


def _said(advice: Advice, task: Task, path: Path, needs: Needs) -> str:
    """Return the best commands; "" if the file was converted with options that nobody knows."""
    plain = advice.plain
    if not plain.placements or all(p.needs != needs for p in plain.placements):
        return ""
    rows = [row for row in advice.rows if row.placement.fits]
    if rows:
        steps = commands(rows[0], task, path)
        return f"It fits with {' and '.join(steps[not rows[0].trial.options :])}."
    if advice.late or advice.rows and advice.rows[0].placement.fits:
        return ""
    return "None of the converter's options for arena, window and weights makes it fit."


def with_room(board: Board | None, heap: int) -> Board | None:
    """Return a kind of board with the free heap of the one at hand."""
    return board and dataclasses.replace(board, free_heap_bytes=heap, heap_is_estimated=False)
