"""Plan where values and weights lie in memory, and when weights are read."""

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


def carry_states(state: Conversion) -> None:
    """Make outputs that the next run reads memory which lasts from run to run.

    Raises:
        UsageError: for a name that does not exist, or a pair that does not fit.
    """
    states.carry(state.graph, state.options.state)


def split_weights(state: Conversion) -> None:
    """Split steps whose weights do not fit the window of a board that streams them."""
    window, steps = state.options.window, state.graph.steps
    n = sum(1 for _ in walk(steps))
    slices.split(state.graph, window)
    n_split = sum(1 for _ in walk(state.graph.steps))
    more = STEP_NBYTES * (n_split - n)
    if more > max(_LEAST_NBYTES, _LEAST_WINDOWS * window):
        state.notes.append(
            f"--window {window} cuts {n:,} steps into {n_split:,}, which take about {more:,} "
            "bytes more of a board's heap; a larger window cuts fewer"
        )


def plan_arena(state: Conversion) -> None:
    """Place every value in the arena, and compute chains by bands of rows where that helps.

    Raises:
        ConvertError: if the model does not fit what the options allow.
    """
    options, graph = state.options, state.graph
    qtables.pack(graph)
    if state.doubt:
        ort_session.confirm(state.loaded, state.doubt)
    at("planning the arena")
    state.arena = planner.plan(graph, options.keep_inputs, limit=options.arena)
    sound.check_planned(graph, state.arena.arena_bytes)
    if again := state.arena.macs_again:
        state.notes.append(f"--arena: {again:,} multiply-accumulates are computed again")


def plan_weights(state: Conversion) -> None:
    """Order the weights in the file, and choose before which step each chunk of them is read.

    Raises:
        ConvertError: if the weights do not fit the window.
    """
    options, graph = state.options, state.graph
    stream.arrange(graph, state.arena, options.window, own.kernels_in(options.ops))
    arena.check(graph, state.arena.arena_bytes, options.keep_inputs)
