"""Stage 7: where values and weights lie in memory, and when weights are read."""

from __future__ import annotations

from tools.deploy.fit import STEP_NBYTES
from tools.limits import at

from .. import own
from .. import plan as planner
from ..conversion import Conversion
from ..ir import walk
from ..load import sound
from ..numbers import qtables
from ..reference import ort_session
from ..verify import arena
from . import slices, stream
from . import state as states

# A note is due where more steps take as many bytes of heap as this, and as many windows.
_LEAST_NBYTES, _LEAST_WINDOWS = 16384, 4


def plan(state: Conversion) -> None:
    """Raises ConvertError where the model does not fit what the options allow."""
    options, graph = state.options, state.graph
    states.carry(graph, options.state)
    if options.window is not None:
        _split(state, options.window)
    qtables.pack(graph)
    if state.doubt:
        ort_session.confirm(state.loaded, state.doubt)
    at("planning the arena")
    state.arena = planner.plan(graph, options.keep_inputs, limit=options.arena)
    sound.check_planned(graph, state.arena.arena_bytes)
    if again := state.arena.macs_again:
        state.notes.append(f"--arena: {again:,} multiply-accumulates are computed again")
    stream.arrange(graph, state.arena, options.window, own.kernels_in(options.ops))
    arena.check(graph, state.arena.arena_bytes, options.keep_inputs)


def _split(state: Conversion, window: int) -> None:
    """A note says where steps take more memory than a small window saves."""
    steps = state.graph.steps
    n = sum(1 for _ in walk(steps))
    slices.split(state.graph, window)
    cut = sum(1 for _ in walk(steps))
    more = STEP_NBYTES * (cut - n)
    if more > max(_LEAST_NBYTES, _LEAST_WINDOWS * window):
        state.notes.append(
            f"--window {window} cuts {n:,} steps into {cut:,}, which take about {more:,} "
            "bytes more of a board's heap; a larger window cuts fewer"
        )
