"""Stage 4: the graph becomes smaller and faster, in operators that onnxruntime has as well."""

from __future__ import annotations

from .. import rewrites
from ..conversion import Conversion
from . import check, qdq


def rewrite(state: Conversion) -> None:
    """Raises ConvertError."""
    level, failed = state.options.optimize, []

    def rewritten(without):
        failed.clear()
        return rewrites.rewrite(
            state.model, level, context=state.context, notes=failed, without=without
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
    state.notes += qdq.notes(state.model) if level else []
    if state.twin is not None:
        state.twin, _ = rewrites.rewrite(state.twin, level, context=state.context, without=without)
