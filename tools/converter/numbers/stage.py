"""Choose in which numbers products are computed: the passes of --weights and --float."""

from __future__ import annotations

import onnx

from ..conversion import Conversion
from ..errors import UsageError
from ..options import WEIGHT_BITS
from ..protos import name_of
from ..quantize.post_training import RECURRENT_BITS
from . import narrow as weights
from . import ranges, refinements
from .precision import Precision

_N_SAMPLES = 3  # random ones, where there is no golden vector to look at


def round_weights(state: Conversion) -> None:
    """Round the float weights of products to the bits of --weights.

    Raises:
        UsageError: if --float is not exact.
    """
    by_quantize = {row.node: row for row in state.narrowed}
    state.model, rows = _narrowed(state, state.model)
    state.narrowed = [
        min(row, by_quantize.get(row.node, row), key=lambda row: row.weights) for row in rows
    ]
    state.answers = state.model
    if not state.narrowed:
        state.notes.append(
            f"--weights {state.options.weights}: no product has float weights to round"
        )
    if state.twin is not None:
        state.twin, _ = _narrowed(state, state.twin)


def _narrowed(state: Conversion, model: onnx.ModelProto):
    """Return the model with weights of fewer bits, and a row with the loss of each layer."""
    options = state.options
    if options.float != "exact":
        raise UsageError(f"--weights {options.weights} is for --float exact")
    sample = weights.sample_of(model, state.golden, options.state)
    bits, halves = WEIGHT_BITS[options.weights], options.weights == "f16"
    return weights.narrow(model, bits, sample, halves)


def measure_ranges(state: Conversion) -> None:
    """Find the products whose values range too widely for one exponent a row."""
    state.rewritten = state.model
    state.lossy = _lossy(state)


def split_ranges(state: Conversion) -> None:
    """Rewrite these products with an exponent for each channel, or in two parts."""
    forms = state.lossy.refinements
    before = {name_of(node) for node in state.model.graph.node}
    for node in state.model.graph.node:
        if node.output and node.output[0] in forms:
            how = forms[node.output[0]].description
            state.notes.append(f"{name_of(node)}: {how}; its range is too wide for one block")
    named = [name_of(node) for node in state.model.graph.node if set(node.output) & set(forms)]
    state.model = refinements.refined(state.model, forms, state.context)
    new = [name_of(n) for n in state.model.graph.node if name_of(n) not in before]
    state.split = [*named, *new]


def choose_precision(state: Conversion) -> None:
    """Choose how each product is computed: in blocks of 24 or 16 bits, or with floats."""
    options, floats, long = state.options, state.lossy.names, list(state.split)
    if options.float == "fast16":
        for rounding in (ranges.Seen(), ranges.Short(state.golden is not None)):
            long += _lossy(state, rounding, [*floats, *long]).names
    bits = WEIGHT_BITS[options.weights]
    if state.quantized and state.quantized.narrowed:
        bits = min(bits, RECURRENT_BITS)
    state.precision = Precision(options.float, floats, bits, long)


def _lossy(state, rounding=None, but=()):
    """Return the products of floats for which a rounding loses too much on samples (ranges.lossy).

    Args:
        state: the conversion.
        rounding: as for ranges.lossy.
        but: names of nodes that need no look.
    """
    options = state.options
    if options.float == "python" or not ranges.is_known(state.model):
        return ranges.NONE
    seeds = range(1 if state.golden is not None else _N_SAMPLES)
    samples = [weights.sample_of(state.model, state.golden, options.state, seed) for seed in seeds]
    return ranges.lossy(state.model, samples, rounding, but)
