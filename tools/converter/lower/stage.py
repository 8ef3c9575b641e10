"""Lower ONNX nodes to steps of kernels: the pass of pipeline.py."""

from __future__ import annotations

from .. import lower as lowering
from ..conversion import Conversion
from ..load import sound
from ..numbers import narrow, ranges
from . import inner


def expose_values(state: Conversion) -> None:
    """Make values inside of the model outputs of it, so that they can be read on a target."""
    state.model = inner.expose(state.model, state.options.inner)
    if state.twin is not None:
        state.twin = inner.expose(state.twin, state.options.inner)


def lower(state: Conversion) -> None:
    """Lower each node to steps, by the lowering of its operator.

    Raises:
        UnsupportedModel: with every node that has no lowering, or does not fit its lowering.
    """
    options = state.options
    state.graph = lowering.lower(state.model, state.twin, state.context, state.precision)
    sound.check_planned(state.graph)
    state.notes += state.precision.notes(state.graph)
    if options.float == "fast16" and not ranges.is_known(state.rewritten):
        state.notes.append(
            "--float fast16: the loss is not known, because shapes depend on the run"
        )
    if options.weights == "f16":
        narrow.mark_halves(state.graph)
