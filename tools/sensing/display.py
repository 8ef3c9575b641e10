"""Display inferences: a picture that changes on a terminal, or a line for each."""

from __future__ import annotations

import json
from collections import deque

from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from tools.limits import printable

from .inference import About, Inference

_BARS = " ▁▂▃▄▅▆▇█"
_WIDTH = 40  # characters of a bar
_KEPT = 60  # scores in the sparkline
_MOST = 16  # displayed classes


class Lines:
    """Prints one line per inference."""

    def __init__(self, about: About):
        self._about = about

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_) -> None:
        pass

    def show(self, inference: Inference) -> None:
        """Print a line."""
        values = inference.outputs[self._about.scores]
        shown = "" if isinstance(values, str) else " ".join(f"{v:.4g}" for v in values[:_MOST])
        line = f"{inference.ms / 1000:9.2f} s  {inference.us / 1000:8.2f} ms  "
        line += f"{inference.answer(self._about):12}  {shown}"
        print(printable(line.rstrip()), flush=True)


class Json(Lines):
    """Prints a JSON object per inference."""

    def show(self, inference: Inference) -> None:
        """Print an object."""
        fields = {"ms": inference.ms, "us": inference.us}
        fields |= {"answer": inference.answer(self._about), "outputs": inference.outputs}
        print(json.dumps(fields), flush=True)


class Picture:
    """Shows a bar for each class, and the largest score over time."""

    def __init__(self, about: About):
        self._about, self._kept = about, deque(maxlen=_KEPT)
        self._live = Live(refresh_per_second=10)

    def __enter__(self) -> Picture:
        self._live.__enter__()
        return self

    def __exit__(self, *_) -> None:
        self._live.__exit__(None, None, None)

    def show(self, inference: Inference) -> None:
        """Redraw the picture."""
        values = inference.outputs[self._about.scores]
        head = Text(f"{inference.ms / 1000:.1f} s   {inference.us / 1000:.2f} ms a run   ")
        head.append(printable(inference.answer(self._about)), style="bold")
        if isinstance(values, str):
            self._live.update(head)
            return
        self._kept.append(max(values, default=0.0))
        self._live.update(Group(head, self._bars(values), Text(sparkline(self._kept))))

    def _bars(self, values):
        table = Table.grid(padding=(0, 1))
        low, high = min([0.0, *values]), max([1e-12, *values])
        for i, value in enumerate(values[:_MOST]):
            length = round(_WIDTH * (value - low) / (high - low)) if value == value else 0
            name = printable(self._about.name_of(i))
            table.add_row(name, Text("█" * length, style="cyan"), f"{value:.4g}")
        return table


def sparkline(values) -> str:
    """Return one character per value, from the least to the largest of them."""
    finite = [v for v in values if v - v == 0]
    low, high = min(finite, default=0), max(finite, default=0)
    step = (high - low) / (len(_BARS) - 2) or 1
    return "".join(_BARS[1 + int((v - low) / step)] if v - v == 0 else "?" for v in values)
