"""Normalize the graph: the pass of pipeline.py that makes it simple and explicit."""

from __future__ import annotations

from ..conversion import Conversion
from ..load import constant_inputs, scales, sound
from ..shapes import declarations
from ..shapes.infer_extents import check_bounds
from . import simplify as simplified


def simplify(state: Conversion) -> None:
    """Infer shapes, resolve sequences, fold constants, inline functions that have no lowering.

    Raises:
        ConvertError: if shapes contradict each other, or values are out of range.
    """
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
