"""Make integers of a float model: the passes of --quantize, and the samples that a user gives."""

from __future__ import annotations

from collections.abc import Sequence

from tools.limits import at

from .. import rewrites
from ..conversion import Conversion
from ..errors import UsageError
from ..reference import given
from ..rewrites import Rewrite
from . import floats
from .post_training import quantize as quantized


def merge_layers(state: Conversion, group: Sequence[Rewrite]) -> None:
    """Merge float layers before they are quantized, by the rewrites below that write ONNX.

    Args:
        state: the conversion.
        group: the rewrites.

    Raises:
        UsageError: if a run decides sizes of the model.
    """
    at("quantizing the model")
    if state.twin is not None:
        raise UsageError("--quantize needs inputs of fixed shapes: --dim instead of --bound")
    chosen = rewrites.select(group, state.options.optimize)
    chosen = [one for one in chosen if not one.is_fusing]
    state.model, _ = rewrites.run(state.model, chosen, state.context)


def quantize(state: Conversion) -> None:
    """Quantize the model: QuantizeLinear and DequantizeLinear around each layer.

    Raises:
        UsageError: for options that do not fit the model.
    """
    options = state.options
    model, state.quantized = quantized(
        state.model, options.quantize, state.context, options.class_names
    )
    state.notes += state.quantized.notes
    state.narrowed = state.quantized.narrowed
    state.model = state.simplified = state.answers = model


def name_floats(state: Conversion) -> None:
    """Name the operators that compute in float all the same, and why."""
    options = state.options
    if options.optimize == 0:
        state.notes.append(
            "--optimize 0 leaves the operators as they are, in float between QuantizeLinear and "
            "DequantizeLinear"
        )
    in_float, rounds_weights = state.quantized.in_float, options.weights != "f32"
    state.notes += floats.notes(state.model, options.quantize, in_float, rounds_weights)


def take_samples(state: Conversion) -> None:
    """Check the inputs of the golden vector, and the outputs that the user expects of them.

    Raises:
        UsageError: for inputs that the model does not take, or outputs that it does not have.
    """
    options = state.options
    if options.golden is not None:
        state.golden = given.checked(state.model, options.golden, options.state)
    if options.expect is not None:
        if options.golden is None:
            raise UsageError("--expect needs --golden: the inputs that these outputs are of")
        states = options.state.values()
        state.expect = given.checked_outputs(state.loaded, options.expect, states, state.model)
