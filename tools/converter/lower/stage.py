"""Stage 6: ONNX nodes become steps of kernels, with what only boards have operators for."""

from __future__ import annotations

from .. import lower as lowering
from .. import rewrites
from ..conversion import Conversion
from ..load import sound
from ..numbers import narrow, ranges
from ..rewrites import heads
from . import inner


def lower(state: Conversion) -> None:
    """Raises UnsupportedModel."""
    options = state.options
    model, more = _for_boards(state, state.model, state.notes)
    state.log |= more
    twin = None if state.twin is None else _for_boards(state, state.twin)[0]
    state.graph = lowering.lower(model, twin, state.context, state.precision)
    sound.check_planned(state.graph)
    state.notes += state.precision.notes(state.graph)
    if options.float == "fast16" and not ranges.is_known(state.rewritten):
        state.notes.append(
            "--float fast16: the loss is not known, because shapes depend on the run"
        )
    if options.weights == "f16":
        narrow.mark_halves(state.graph)


def _for_boards(state, model, notes=None):
    exposed = inner.expose(model, state.options.inner)
    level = state.options.optimize
    without = (heads.rewrite,) if state.context.expands else ()
    return rewrites.for_boards(exposed, level, state.context, notes, without)
