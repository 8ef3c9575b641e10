"""Stage 7: where values and weights lie in memory, and when weights are read."""

from __future__ import annotations

from tools.limits import at

from .. import own
from .. import plan as planner
from ..conversion import Conversion
from ..numbers import qtables
from ..reference import ort_session
from . import slices, stream
from . import state as states


def plan(state: Conversion) -> None:
    """Raises ConvertError where the model does not fit what the options allow."""
    options, graph = state.options, state.graph
    states.carry(graph, options.state)
    if options.window is not None:
        slices.split(graph, options.window)
    qtables.pack(graph)
    if state.doubt:
        ort_session.confirm(state.loaded, state.doubt)
    at("planning the arena")
    state.arena = planner.plan(graph, options.keep_inputs, limit=options.arena)
    if again := state.arena.macs_again:
        state.notes.append(f"--arena: {again:,} multiply-accumulates are computed again")
    stream.arrange(graph, state.arena, options.window, own.kernels_in(options.ops))
