"""Suggest to tools/flash.py what would make a model fit a board that is too small for it.

Suggested options were tried: the converter accepts them for this model, and it fits then.
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
# Not suggested: they change results, or need samples. `advise` measures their effect.
_NOT_SUGGESTED = ("--quantize", "--float")


def remedy(path: Path, model: ModelFile, board: Board | None, needs: Needs) -> str:
    """Return a sentence or two: commands that were tried, or where to find advice.

    Args:
        path: the model's file; the .onnx that it was made from is expected in its folder.
        model: the parsed file.
        board: the board, with the free heap of the connected one; None if unknown.
        needs: heap that the unchanged model needs.
    """
    onnx = path.with_suffix(".onnx")
    if board is None:
        return "mpconnxr advise tries for known boards what would help."
    command = f"{shlex.join(['mpconnxr', 'advise', str(onnx), '--board', board.name])}"
    if not _is_source(onnx, model):
        return f"{command}, with the path of the .onnx, tries what would help."
    with tempfile.TemporaryDirectory() as folder:
        task = Task(onnx, board, (), None, Path(folder), compares=False)
        advice = advise(task, _SECONDS, _Attempts().attempt)
        return _best_commands(advice, task, path, needs) or f"{command} tries what would help."


class _Attempts:
    """Trials up to the first one that fits."""

    def __init__(self) -> None:
        self._has_remedy = False

    def attempt(self, task: Task, options: tuple[str, ...], seconds: float) -> Trial:
        """Run a trial; skip it once one fits, and if its options must not be suggested."""
        if self._has_remedy or any(name in options for name in _NOT_SUGGESTED):
            return Trial(options, refused="not tried")
        trial = tried(task, options, seconds)
        self._has_remedy = trial.fits
        return trial


def _is_source(onnx: Path, model: ModelFile) -> bool:
    try:
        with onnx.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == model.source_digest
    except OSError:
        return False


def _best_commands(advice: Advice, task: Task, path: Path, needs: Needs) -> str:
    """Return the best commands; "" if the file was converted with other options.

    Args:
        advice: result of the search.
        task: the model and its board.
        path: the model's file.
        needs: heap that the file needs.
    """
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
    """Return the board with the free heap of the connected one."""
    return board and dataclasses.replace(board, free_heap_bytes=heap, heap_is_estimated=False)
