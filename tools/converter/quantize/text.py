"""The outcome of a quantization as text."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from .post_training import Outcome
from .search import Attempt

_MOST_ROWS = 20


def print_outcome(outcome: Outcome) -> None:
    """Print the attempts, then the layers, the noisiest first."""
    for attempt in outcome.attempts:
        print(f"quantize {attempt.what}{accuracy_text(attempt)}")
    if not outcome.layers:
        return
    table = Table(box=None, pad_edge=False)
    table.add_column("layer")
    for title in ("weights dB", "output dB", "total dB", "clipped"):
        table.add_column(title, justify="right")
    table.add_column("")
    for row in outcome.layers[:_MOST_ROWS]:
        weights = "" if row.weights is None else f"{row.weights:.1f}"
        figures = (weights, f"{row.output:.1f}", f"{row.total:.1f}", f"{row.clipped:.2%}")
        name = row.node if row.operator in row.node else f"{row.operator} {row.node}"
        table.add_row(name, *figures, row.hint, style="bold" if row.hint else None)
    Console(soft_wrap=True).print(table)
    hidden = len(outcome.layers) - _MOST_ROWS
    if hidden > 0:
        print(f"and {hidden} quieter layers")


def accuracy_text(attempt: Attempt) -> str:
    """Return ': top-1 96.0% (float 97.1%)', or "" if nothing is known."""
    if attempt.top1 is None:
        return ""
    if attempt.top1_float is None:
        return f": same class as float {attempt.top1:.1%}"
    return f": top-1 {attempt.top1:.1%} (float {attempt.top1_float:.1%})"
