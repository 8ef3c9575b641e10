"""Optimize the graph: make it smaller and faster, first in operators that onnxruntime has too.

The passes of pipeline.py, which hands them the rewrites of their group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import rewrites
from ..conversion import Conversion
from ..lower.follows import nodes_that_cannot_follow
from . import Rewrite, check, qdq

_MAX_ROUNDS = 4  # each leaves some nodes in float, because of which others may not follow a run


def rewrite(
    state: Conversion, group: Sequence[Rewrite], for_boards: Sequence[Rewrite], n_rounds: int
) -> None:
    """Rewrite the graph, and omit rewrites that change the model's values.

    A quantized model whose sizes each run decides is rewritten again, with the nodes in float
    whose integer forms cannot follow these sizes. If the model is then still refused because of
    operators that the user wrote, it is rewritten without any integer form.

    Args:
        state: the conversion.
        group: the rewrites.
        for_boards: rewrites for boards alone, which come later.
        n_rounds: the most rounds.

    Raises:
        ConvertError: if a rewrite leaves an invalid graph.
    """
    if state.twin is None or not qdq.is_quantized(state.model):
        _rewrite(state, group, n_rounds)
        return
    before = state.model, state.twin, len(state.notes)
    for _ in range(_MAX_ROUNDS):
        _rewrite(state, group, n_rounds)
        names = nodes_that_cannot_follow(state.model, state.twin, for_boards, state.context)
        if not names:
            return
        state.model, state.twin, n_notes = before
        del state.notes[n_notes:]
        if names <= state.context.floats:
            break
        state.context = replace(state.context, floats=state.context.floats | names)
    state.context = replace(state.context, floats=frozenset())
    state.notes.append(
        "QuantizeLinear and DequantizeLinear stay, and what lies between them computes in float: "
        "the integer forms cannot follow a size that each run decides"
    )
    _rewrite(state, group, n_rounds, ["qdq"])


def _rewrite(state, group, n_rounds, excluded: Sequence[str] = ()):
    level, failed = state.options.optimize, []

    def rewritten(without):
        failed.clear()
        chosen = rewrites.select(group, level, without=(*excluded, *without))
        return rewrites.run(state.model, chosen, state.context, failed, n_rounds)

    if state.options.check:
        (state.model, state.log), without = check.checked(state.model, rewritten)
    else:
        (state.model, state.log), without = rewritten(()), []
    state.notes += failed
    if without:
        state.notes.append(
            f"rewrite {', '.join(without)} left out: it changes the model's values. The model is "
            "right without it, but may be slower: please report this with the model"
        )
    if not excluded:
        in_float = state.quantized.in_float if state.quantized else {}
        state.notes += qdq.notes(state.model, in_float)
    if state.twin is not None:
        chosen = rewrites.select(group, level, without=(*excluded, *without))
        state.twin, _ = rewrites.run(state.twin, chosen, state.context, n_rounds=n_rounds)


def rewrite_for_boards(state: Conversion, group: Sequence[Rewrite], n_rounds: int) -> None:
    """Merge nodes into operators that only boards have; a saved model keeps the nodes.

    Args:
        state: the conversion.
        group: the rewrites.
        n_rounds: the most rounds.

    Raises:
        InternalError: if a rewrite leaves an invalid graph.
    """
    chosen = rewrites.select(group, state.options.optimize, state.context)
    state.model, more = rewrites.run(state.model, chosen, state.context, state.notes, n_rounds)
    state.log |= more
    if state.twin is not None:
        state.twin, _ = rewrites.run(state.twin, chosen, state.context, n_rounds=n_rounds)
