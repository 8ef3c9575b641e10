"""Stage 4: the graph becomes smaller and faster, in operators that onnxruntime has as well."""

from __future__ import annotations

from .. import rewrites
from ..conversion import Conversion
from . import qdq


def rewrite(state: Conversion) -> None:
    """Raises ConvertError."""
    level = state.options.optimize
    given = {"context": state.context, "notes": state.notes}
    state.model, state.log = rewrites.rewrite(state.model, level, **given)
    state.notes += qdq.notes(state.model) if level else []
    if state.twin is not None:
        state.twin, _ = rewrites.rewrite(state.twin, level, context=state.context)
