"""Print tables of steps and boards in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from ..converted import Converted
from .fits import fits
from .rows import step_rows

_NARROWEST = 100  # columns of the tables, also if they go to a file
_UNITS = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))


def print_steps(converted: Converted) -> None:
    """Print a line for each step, bold where most of the arena is in use."""
    rows = step_rows(converted)
    table = Table(box=None, pad_edge=False)
    for title in ("#", "kernel", "from", "to", "MACs", "weights", "scratch", "in the arena"):
        is_text = title in ("kernel", "from", "to")
        justify = "left" if is_text else "right"
        # Shapes may wrap to the next line; the name of a kernel must not.
        least = max(len(row.kernel) for row in rows) if rows and title == "kernel" else None
        table.add_column(title, justify=justify, no_wrap=not is_text, min_width=least)
    for row in rows:
        figures = (row.macs, row.weight_bytes, row.scratch_bytes, row.live_bytes)
        table.add_row(
            str(row.index),
            row.kernel,
            row.inputs,
            row.output,
            *(f"{figure:,}" for figure in figures),
            style="bold" if row.is_peak else None,
        )
    print_table(table)


def print_boards(converted: Converted) -> None:
    """Print a line for each board: whether the model fits, the heap it needs, and its time."""
    estimates = fits(converted)
    print(f"on a board: {estimates[0].plan.summary}")
    table = Table(box=None, pad_edge=False)
    for title in ("board", "", "needs", "in place", "free heap", "time", "from", "to"):
        justify = "left" if title in ("board", "") else "right"
        table.add_column(title, justify=justify, no_wrap=True)
    for fit in estimates:
        least, likely, most = map(time_text, fit.seconds) if fit.seconds else ("", "", "")
        needs = (f"{fit.needs.total:,}", f"{fit.in_place.total:,}", fit.board.heap_text)
        table.add_row(fit.board.name, fit.verdict, *needs, likely, least, most)
    print_table(table)


def print_table(table: Table) -> None:
    """Print a table of at least 100 columns, without blanks at the ends of its lines."""
    console = Console(highlight=False)
    console.width = max(console.width, _NARROWEST)
    with console.capture() as capture:
        console.print(table)
    print("\n".join(line.rstrip() for line in capture.get().splitlines()))


def time_text(seconds: float) -> str:
    """Return a number of seconds with two significant digits, such as '4.2 ms'."""
    unit, scale = next((u for u in _UNITS if seconds * u[1] >= 1), _UNITS[-1])
    value = seconds * scale
    return f"{value:,.{1 if value < 10 else 0}f} {unit}"
