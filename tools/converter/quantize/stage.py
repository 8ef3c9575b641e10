"""Stage 3: with --quantize, a float model gets integers; its float layers are merged before."""

from __future__ import annotations

from tools.limits import at

from .. import rewrites
from ..conversion import Conversion
from ..errors import UsageError
from ..reference import given
from . import quantize as quantized


def quantize(state: Conversion) -> None:
    """Raises UsageError, also for inputs of a golden vector that the model does not take."""
    options = state.options
    if options.quantize:
        at("quantizing the model")
        if state.twin is not None:
            raise UsageError("--quantize needs inputs of fixed shapes: --dim instead of --bound")
        merged, _ = rewrites.rewrite(
            state.model, options.optimize, leave_out=rewrites.FUSING, context=state.context
        )
        model, state.quantized = quantized(merged, options.quantize, state.context)
        state.notes += state.quantized.notes
        state.model = state.simplified = state.answers = model
    if options.golden is not None:
        state.golden = given.checked(state.model, options.golden, options.state)
    if options.expect is not None:
        if options.golden is None:
            raise UsageError("--expect needs --golden: the inputs that these outputs are of")
        states = options.state.values()
        state.expect = given.checked_outputs(state.loaded, options.expect, states, state.model)
