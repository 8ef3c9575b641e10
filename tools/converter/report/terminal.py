"""The table of steps in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from ..convert import Converted
from .rows import step_rows


def print_steps(converted: Converted) -> None:
    """A line for each step; bold where the most of the arena is in use."""
    table = Table(box=None, pad_edge=False)
    for title in ("#", "kernel", "from", "to", "MACs", "weights", "scratch", "in the arena"):
        is_text = title in ("kernel", "from", "to")
        table.add_column(title, justify="left" if is_text else "right", no_wrap=not is_text)
    for row in step_rows(converted):
        figures = (row.macs, row.weight_bytes, row.scratch_bytes, row.live_bytes)
        table.add_row(
            str(row.index),
            row.kernel,
            row.inputs,
            row.output,
            *(f"{figure:,}" for figure in figures),
            style="bold" if row.is_peak else None,
        )
    Console().print(table)
