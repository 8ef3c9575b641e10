"""Format advice as text and as JSON."""

from __future__ import annotations

import shlex
from pathlib import Path

from rich.table import Table

from tools.converter.report.terminal import print_table, time_text
from tools.deploy.boards import Board

from .search import GUESSED, Advice, Row
from .trial import Task

_MOST_ROWS = 10  # in addition to the model as it is
_MOST_SHOWN = 160  # characters of the reason why an option is impossible


def print_advice(advice: Advice, task: Task) -> None:
    """Print the verdict, the obstacles, the table, and the commands of the best row."""
    board = task.board
    print(f"{board.name}: {board.title}, {board.heap_text} bytes of heap free")
    print(verdict(advice, board))
    for name in advice.plain.deciding:
        print(f"the value of input {name} decides a shape: give one, as -- --bind {name}=FILE.npy")
    for note in advice.plain.notes:
        print(f"note: {note}")
    if advice.plain.is_open and advice.rows:
        print(f"sizes of {GUESSED} are a guess: give your own after --, as -- --dim NAME=N")
    if advice.rows and not board.unable:
        _print_table(advice, task)
    for trial in advice.refused:
        if trial is not advice.plain:
            lines = trial.refused.splitlines()
            why = " ".join(line.strip() for line in lines[:2])[:_MOST_SHOWN]
            print(f"not possible: {shlex.join(_named(trial, task))}: {why}")
    for options in advice.late:
        print(f"no time for {shlex.join(options) or 'anything'} (--seconds allows more)")
    if advice.best:
        print("\n".join(["the first of these:", *(f"  {c}" for c in commands(advice.best, task))]))


def verdict(advice: Advice, board: Board) -> str:
    """Return 'fits', or a sentence that says what is too large."""
    plain = advice.plain
    if board.unable:
        return f"does not fit: {board.unable}"
    if not plain.placements:
        return f"does not convert: {plain.refused}"
    placement = plain.placements[0]
    needed = f"{placement.heap:,} bytes of heap needed, {board.heap_text} free"
    if placement.verdict == "heap not known":
        return f"it is not known whether it fits: {placement.heap:,} bytes of heap needed"
    if placement.fits:
        return f"{placement.verdict}: {needed}"
    reasons = []
    if placement.lacks_flash:
        nbytes, free = placement.flash_bytes, placement.free_flash
        reasons.append(f"{nbytes:,} bytes of flash needed, the file system has {free:,}")
    least = placement.needs.least
    if board.free_heap_bytes and least > board.free_heap_bytes:
        reasons.append(f"inputs or outputs alone take {least:,} bytes, which no option lowers")
    if placement.verdict == "too large":
        reasons.append(f"{needed}; the largest is {plain.obstacle}")
    return f"does not fit: {'; '.join(reasons)}"


def commands(row: Row, task: Task, output: Path | None = None) -> list[str]:
    """Return the command lines that convert and deploy this row.

    Args:
        row: a trial in one of its placements.
        task: the model and the user's options.
        output: file to convert to; None: the model's name in the current folder.
    """
    options = [*task.user_options, *_named(row.trial, task)]
    model = [str(task.model), str(output or Path(task.model.stem + ".bin"))]
    deploy = ["mpconnxr", "flash", model[1], *row.placement.flash_options]
    return [shlex.join(["mpconnxr", "convert", *model, *options]), shlex.join(deploy)]


def _named(trial, task):
    """Return the trial's options with the name of the user's file of samples."""
    options = list(trial.options)
    if task.samples and "--calibration" in options:
        options[options.index("--calibration") + 1] = str(task.samples)
    return options


def _print_table(advice, task):
    compared = max((row.trial.accuracy.samples for row in advice.rows), default=0)
    kind = f"your {compared}" if task.samples else f"{compared} random"
    if compared:
        print(f"error against onnxruntime: the largest of {kind} samples")
    elif why := advice.plain.accuracy.why:
        print(f"error not measured: {why}")
    table = Table(box=None, pad_edge=False)
    for title in ("", "heap", "flash", "time", "error", "same class"):
        table.add_column(title, justify="right" if title else "left", no_wrap=True)
    table.add_column("options", overflow="fold")
    for row in _shown(advice.rows):
        table.add_row(*_cells(row, task), style="bold" if row.is_plain else None)
    print_table(table)
    if (hidden := len(advice.rows) - len(_shown(advice.rows))) > 0:
        print(f"and {hidden} more (--json has them)")


def _shown(rows):
    """Return the best rows, and always the row of the model without options."""
    return [row for i, row in enumerate(rows) if i < _MOST_ROWS or row.is_plain]


def _cells(row, task):
    placement, accuracy = row.placement, row.trial.accuracy
    seconds, error, same = placement.seconds, accuracy.error, accuracy.same
    options = shlex.join(_named(row.trial, task)) or (
        "" if placement.flash_options else "as it is"
    )
    deploy = f"flash {shlex.join(placement.flash_options)}" if placement.flash_options else ""
    return (
        placement.verdict,
        f"{placement.heap:,}",
        f"{placement.flash_bytes:,}",
        time_text(seconds.likely) if seconds else "",
        "" if error is None else f"{error:.1g}",
        "" if same is None else f"{same:.0%}",
        "; ".join(filter(None, (options, deploy))),
    )


def to_dict(advice: Advice, task: Task) -> dict:
    """Return the advice for --json; sizes in bytes, times in seconds."""
    board = task.board
    return {
        "board": board.name,
        "free_heap_bytes": board.free_heap_bytes,
        "heap_is_estimated": board.heap_is_estimated,
        "fits": advice.fits,
        "fits_with_options": advice.best is not None,
        "verdict": verdict(advice, board),
        "rows": [_row(row, task) for row in advice.rows],
        "refused": [{"options": list(t.options), "why": t.refused} for t in advice.refused],
        "no_time_for": [list(options) for options in advice.late],
    }


def _row(row, task):
    placement, accuracy = row.placement, row.trial.accuracy
    return {
        "verdict": placement.verdict,
        "heap_bytes": placement.heap,
        "heap": placement.needs.parts,
        "flash_bytes": placement.flash_bytes,
        "seconds": placement.seconds._asdict() if placement.seconds else None,
        "error": accuracy.error,
        "same_class": accuracy.same,
        "samples": accuracy.samples,
        "options": _named(row.trial, task),
        "flash_options": list(placement.flash_options),
        "commands": commands(row, task),
    }
