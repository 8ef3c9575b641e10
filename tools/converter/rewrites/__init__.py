"""Rewrites that make the graph smaller or faster and keep its meaning, one a file.

A rewrite is a function `model -> bool` that changes the model in place and says whether it did.
What it writes is ONNX: standard operators, or com.microsoft's fused and quantized ones, so that
the result can be saved, drawn and run elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import onnx

from ..passes import infer

Rewrite = Callable[[onnx.ModelProto], bool]

# By level of --optimize, in order; a level includes those below it. Level 0 changes nothing.
LEVELS: dict[int, Sequence[Rewrite]] = {1: (), 2: ()}

_MAX_ROUNDS = 8  # what one rewrite leaves may suit another


def rewrite(model: onnx.ModelProto, level: int) -> list[str]:
    """Applies the rewrites of all levels up to this one, until none finds anything to do.

    Returns a line for each that changed something, in order.
    """
    chosen = [one for at in sorted(LEVELS) if at <= level for one in LEVELS[at]]
    log = []
    for _ in range(_MAX_ROUNDS):
        done = [one for one in chosen if one(model)]
        log += [one.__module__.rpartition(".")[2] for one in done]
        if not done:
            break
        model.CopyFrom(infer.infer(model))
    return log
