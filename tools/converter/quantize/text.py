"""The outcome of a quantization as text."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from .post_training import Outcome
from .search import Attempt
from .tested import Tested

_MOST_ROWS = 20
# Measured by `python -m benchmarks.noisy_scores`.
_LEGEND = (
    "dB       signal to noise. From a total of 20 in the last layer on, answers rarely change; at "
    "10, up to 1 in 20"
)


def print_outcome(outcome: Outcome) -> None:
    """Print the attempts, then the layers, the noisiest first."""
    for attempt in outcome.attempts:
        print(f"quantize {attempt.what}{accuracy_text(attempt)}")
    if outcome.tested:
        print(f"test     {test_text(outcome.tested)}")
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
    print(_LEGEND)


def accuracy_text(attempt: Attempt) -> str:
    """Return ': top-1 96.0% (float 97.1%) on the calibration data', or "" if nothing is known."""
    if attempt.top1 is None:
        return ""
    if attempt.top1_float is None:
        return f": same class as float {attempt.top1:.1%} on the calibration data"
    top1, of_float = f"{attempt.top1:.1%}", f"{attempt.top1_float:.1%}"
    return f": top-1 {top1} (float {of_float}) on the calibration data"


def test_text(tested: Tested) -> str:
    """Return 'top-1 95.8% (float 96.4%) on 450 samples', with what is to be known of it."""
    answers, count = tested.quantized, tested.count
    samples = f"on {count:,} sample{'s' * (count > 1)} of the test data"
    text = f"{answers.text()} (float {tested.of_float.text().removeprefix('top-1 ')}) {samples}"
    if answers.threshold is not None:
        text += f"; class 1 is an output above {answers.threshold:g}"
    for name, one in (("float", tested.of_float), ("quantized", answers)):
        if n := int(one.has_nan.sum()):
            text += f"; the {name} model gives NaN for {n:,}"
    return text
