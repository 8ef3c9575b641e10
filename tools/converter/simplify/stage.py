"""Stage 2: the graph becomes simple and explicit, with the types of all values."""

from __future__ import annotations

from ..conversion import Conversion
from ..load import constant_inputs, scales, sound
from ..shapes import declarations
from ..shapes.infer_extents import check_bounds
from . import simplify as simplified


def simplify(state: Conversion) -> None:
    """Raises ConvertError."""
    scales.check(state.model)  # before they are folded into what they scale
    constant_inputs.check(state.model)
    model = simplified(state.model, state.context)
    state.notes += declarations.notes(state.loaded, model)
    if note := declarations.inner_contradictions(state.declared, model.graph):
        state.notes.append(note)
    check_bounds(state.options.bounds, state.model, model)
    scales.check(model)
    constant_inputs.check(model)
    sound.check_memory(model)
    state.model = state.simplified = model
    if state.twin is not None:
        state.twin = simplified(state.twin, state.context)
