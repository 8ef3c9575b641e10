"""Stage 4: the graph becomes smaller and faster, in operators that onnxruntime has as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .. import rewrites
from ..conversion import Conversion
from ..lower.follows import stuck
from . import check, qdq

_MAX_ROUNDS = 4  # each leaves some nodes in float, because of which others may not follow a run


def rewrite(state: Conversion) -> None:
    """Raises ConvertError."""
    if state.twin is not None and qdq.is_quantized(state.model) and state.options.optimize:
        _rewrite_followed(state)
    else:
        _rewrite(state)


def _rewrite_followed(state):
    """Rewrite a quantized model so that it follows sizes which each run decides.

    Nodes whose integer forms cannot stay in float. If the model is refused all the same, then for
    operators that the user wrote: without any integer form.
    """
    before = state.model, state.twin, len(state.notes)
    for _ in range(_MAX_ROUNDS):
        _rewrite(state)
        names = stuck(state.model, state.twin, state.options.optimize, state.context)
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
    _rewrite(state, ["qdq"])


def _rewrite(state, left_out: Sequence[str] = ()):
    level, failed = state.options.optimize, []

    def rewritten(without):
        failed.clear()
        return rewrites.rewrite(
            state.model,
            level,
            context=state.context,
            notes=failed,
            without=(*left_out, *without),
        )

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
    state.notes += qdq.notes(state.model) if level and not left_out else []
    if state.twin is not None:
        without = (*left_out, *without)
        state.twin, _ = rewrites.rewrite(state.twin, level, context=state.context, without=without)
