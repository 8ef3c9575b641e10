"""Cases of gates, RMS norms and hyper-connections."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from .making import Spec, makes

_BF16 = ml_dtypes.bfloat16
_TWO = (np.float32, np.float16)
_ALL = (np.float32, np.float32, np.float16, _BF16)


def _odd(dtype, n=1):
    return dict.fromkeys(range(n), dtype) if dtype is _BF16 else {}


@makes("GatedAdd")
def gated_add(draw):
    """Draw tensors of all ranks."""
    for c in draw.each(24, dtype=_TWO, fixed=[(), (2,), (1,)]):
        shape = draw.shape(1, 4)
        inputs = [draw.floats(s, c.dtype) for s in (shape, shape, (*shape[:-1], 1))]
        yield Spec(inputs, {}, c.fixed)


@makes("ScaledSiLU")
def scaled_silu(draw):
    """Yield cases with the scale as an attribute, and as an input."""
    for c in draw.each(
        30,
        dtype=_ALL,
        alpha=[None, 0.5, -2.0],
        of_scale=[None, None, np.float32, np.float16, _BF16],
        fixed=[(), (1,)],
    ):
        inputs = [draw.floats(draw.shape(), c.dtype, 3.0)]
        if c.of_scale:
            inputs.append(draw.floats((), c.of_scale))
        yield Spec(inputs, c.attributes("alpha"), c.fixed if c.of_scale else (), odd=_odd(c.dtype))


@makes("LinearAttentionGate")
def linear_attention_gate(draw):
    """Request one and two outputs."""
    for c in draw.each(24, dtype=_TWO, b=[True, False], beta=[True, False], fixed=[(), (1, 2)]):
        shape = tuple(draw.size(1, n) for n in (3, 5, 6))
        inputs = [draw.floats(shape, c.dtype, 3.0)]
        inputs += [draw.floats(shape[-1:]) for _ in range(2)]
        if c.b:
            inputs.append(draw.floats(shape, c.dtype))
        yield Spec(inputs, {}, c.fixed, (True, c.b and c.beta))


@makes("BranchwiseRMSNorm")
def branchwise_rms_norm(draw):
    """Vary grouped and flat branches."""
    for c in draw.each(
        32,
        dtype=_ALL,
        of_scale=[None, np.float32, np.float16, _BF16],
        form=["all", "branches", "row"],
        flat=[True, False],
        epsilon=[None, 1e-3],
        fixed=[(), (1,)],
    ):
        branches, size = draw.size(1, 4), draw.size(1, 7)
        lead = draw.shape(1, 2, 3)
        shape = (*lead, branches * size) if c.flat else (*lead, branches, size)
        inputs = [draw.floats(shape, c.dtype)]
        if c.of_scale:
            of = {"all": (branches * size,), "branches": (branches, size), "row": (size,)}
            inputs.append(draw.floats(of[c.form], c.of_scale))
        attributes = c.attributes("epsilon")
        if c.flat:
            attributes["num_branches"] = branches
        yield Spec(inputs, attributes, c.fixed if c.of_scale else (), odd=_odd(c.dtype))


@makes("GatedRMSNorm")
def gated_rms_norm(draw):
    """Vary the number of groups per row."""
    for c in draw.each(
        28,
        dtype=_TWO,
        activation=[None, "silu", "swish", "sigmoid"],
        groups=[1, 2, 3],
        epsilon=[None, 1e-3],
        fixed=[(), (1,)],
    ):
        size = draw.size(1, 7)
        shape = (*draw.shape(1, 3, 3), c.groups * size)
        inputs = [draw.floats(s, c.dtype) for s in (shape, (size,), shape)]
        yield Spec(inputs, c.attributes("activation", "epsilon"), c.fixed)


@makes("EngramGate")
def engram_gate(draw):
    """Request one and two outputs."""
    for c in draw.each(
        24, dtype=_TWO, epsilon=[None, 1e-3], conv=[True, False], fixed=[(), (3, 4)]
    ):
        batch, seq, many, size = (draw.size(1, n) for n in (2, 3, 3, 8))
        shapes = [(batch, seq, many, size)] * 2 + [(batch, seq, size)] + [(many, size)] * 2
        shapes += [(many, size)] if c.conv else []
        inputs = [draw.floats(s, c.dtype) for s in shapes]
        yield Spec(inputs, c.attributes("epsilon"), c.fixed, (True, c.conv))


@makes("HyperConnectionPreMix")
def pre_mix(draw):
    """Vary the shape of the gates."""
    for c in draw.each(
        32,
        dtype=_ALL,
        of_gates=[np.float32, np.float16, _BF16],
        form=["branch", "column", "feature", "flat"],
        flat=[True, False],
        reduction_scale=[None, 0.5],
        fixed=[(), (1,)],
    ):
        branches, size, lead = draw.size(1, 4), draw.size(1, 7), draw.shape(1, 2, 3)
        yield Spec(
            [
                _streams(draw, c, lead, branches, size),
                draw.floats(_gates(c.form, lead, branches, size), c.of_gates),
            ],
            {**c.attributes("reduction_scale"), **({"num_branches": branches} if c.flat else {})},
            c.fixed,
            odd=_odd(c.dtype),
        )


def _streams(draw, c, lead, branches, size):
    """Draw streams: (*lead, branches, size), or with the last two dims merged."""
    shape = (*lead, branches * size) if c.flat else (*lead, branches, size)
    return draw.floats(shape, c.dtype)


def _gates(form, lead, branches, size):
    """Return the shape of gates in one of their forms."""
    return {
        "branch": (*lead, branches),
        "column": (*lead, branches, 1),
        "feature": (*lead, branches, size),
        "flat": (*lead, branches * size),
    }[form]


@makes("HyperConnectionPostMix")
def post_mix(draw):
    """Vary the shape of the gates, with and without a mixing matrix."""
    for c in draw.each(
        32,
        dtype=_ALL,
        of_gates=[np.float32, np.float16, _BF16],
        form=["branch", "column", "feature"],
        flat=[True, False],
        mixed=[True, False],
        fixed=[(), (2,)],
    ):
        branches, size, lead = draw.size(1, 4), draw.size(1, 7), draw.shape(1, 2, 3)
        inputs = [
            _streams(draw, c, lead, branches, size),
            draw.floats((*lead, size), c.dtype),
            draw.floats(_gates(c.form, lead, branches, size), c.of_gates),
        ]
        if c.mixed:
            inputs.append(draw.floats((*lead, branches, branches), c.of_gates))
        attributes = {"num_branches": branches} if c.flat else {}
        yield Spec(inputs, attributes, c.fixed, odd=_odd(c.dtype))
