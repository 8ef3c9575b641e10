"""Expand gates, RMS norms and hyper-connections: in float32, then in the input's dtype."""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands

_EPSILON = float(np.float32(1e-5))


@expands("GatedAdd", inputs="X Y gate", outputs="output")
def gated_add(b: Body):
    """Compute X + Y * gate, where the product is rounded to the inputs' dtype before the sum."""
    scaled = b.narrow(b.add("Mul", b.wide("Y"), b.wide("gate")), "X")
    return b.add("Add", "X", scaled)


@expands("ScaledSiLU", inputs="X scale")
def scaled_silu(b: Body):
    """Compute z * sigmoid(z) of z = X * scale, each rounded to the input's dtype."""
    scale = b.wide("scale") if b.has("scale") else b.const(b.attr("alpha", 1.0))
    if b.has("scale") and b.rank("scale"):
        scale = b.reshape(scale, *([1] * min(b.rank("X"), 1)))
    z = _rounded(b, b.add("Mul", b.wide("X"), scale))
    s = _rounded(b, b.add("Sigmoid", z))
    return b.narrow(b.add("Mul", z, s), "X")


def _rounded(b, x):
    """Round a float32 value to the dtype of X."""
    dtype = b.dtype("X")
    return x if dtype == TensorProto.FLOAT else b.cast(b.cast(x, dtype))


@expands("LinearAttentionGate", inputs="a dt_bias decay_scale b", outputs="decay beta")
def linear_attention_gate(b: Body):
    """Compute decay_scale * softplus(a + dt_bias) and sigmoid(b)."""
    decay = b.add("Softplus", b.add("Add", b.wide("a"), "dt_bias"))
    beta = b.narrow(b.add("Sigmoid", b.wide("b")), "a") if b.has("b") and b.has_output(1) else ""
    return [b.narrow(b.add("Mul", decay, "decay_scale"), "a"), beta]


@expands("BranchwiseRMSNorm", inputs="X scale")
def branchwise_rms_norm(b: Body):
    """Normalize each branch by itself."""
    shape = b.shape("X")
    grouped = _grouped(b, "X", shape)
    y = b.scaled_by_rms(b.reshape(b.wide("X"), *grouped), b.attr("epsilon", _EPSILON))
    if b.has("scale"):
        scale = b.wide("scale")
        if math.prod(b.shape("scale")) == math.prod(grouped[-2:]):
            scale = b.reshape(scale, *grouped[-2:])
        y = b.add("Mul", y, scale)
    return b.narrow(b.reshape(y, *shape), "X")


def _grouped(b, name, shape):
    """Return the shape with branches as an axis of their own."""
    branches = b.attr("num_branches", 0)
    if not branches:
        if len(shape) < 2:
            raise Problem(f"{name} of {len(shape)} dimensions without num_branches")
        return shape
    if shape[-1] % branches:
        raise Problem(f"{name} of {shape[-1]} numbers a row for {branches} branches")
    return [*shape[:-1], branches, shape[-1] // branches]


@expands("GatedRMSNorm", inputs="X scale gate")
def gated_rms_norm(b: Body):
    """Normalize groups of the length of scale, and multiply by the activated gate."""
    activation = b.attr("activation", "silu")
    if activation not in ("silu", "swish", "sigmoid"):
        raise Problem(f"activation {activation}")
    shape, size = b.shape("X"), b.extent("scale", 0)
    x = b.reshape(b.wide("X"), *shape[:-1], -1, size)
    y = b.add("Mul", b.scaled_by_rms(x, b.attr("epsilon", _EPSILON)), b.wide("scale"))
    gate = b.wide("gate")
    opened = b.add("Sigmoid", gate)
    if activation != "sigmoid":
        opened = b.add("Mul", gate, opened)
    return b.narrow(b.add("Mul", b.reshape(y, *shape), opened), "X")


@expands(
    "EngramGate",
    inputs="key query value key_norm_scale query_norm_scale conv_norm_scale",
    outputs="output gated_value_normed",
)
def engram_gate(b: Body):
    """Gate the value by how similar key and query are."""
    epsilon = b.attr("epsilon", _EPSILON)
    key, query = (
        b.add("Mul", b.scaled_by_rms(b.wide(name), epsilon), b.wide(f"{name}_norm_scale"))
        for name in ("key", "query")
    )
    dot = b.sum(b.add("Mul", key, query), -1)
    dot = b.add("Mul", dot, b.const(1 / math.sqrt(b.extent("key", -1))))
    size = b.add("Sqrt", b.add("Max", b.add("Abs", dot), b.const(1e-6)))
    gate = b.add("Sigmoid", b.add("Mul", b.add("Sign", dot), size))
    y = b.add("Mul", gate, b.unsqueeze(b.wide("value"), 2))
    normed = ""
    if b.has_output(1):
        if not b.has("conv_norm_scale"):
            raise Problem("gated_value_normed needs conv_norm_scale")
        scale = b.wide("conv_norm_scale")
        normed = b.narrow(b.add("Mul", b.scaled_by_rms(y, epsilon), scale), "key")
    return [b.narrow(y, "key"), normed]


@expands("HyperConnectionPreMix", inputs="streams pre_mix", outputs="output")
def pre_mix(b: Body):
    """Compute the weighted sum of streams."""
    grouped = _grouped(b, "streams", b.shape("streams"))
    gates = _gates(b, "pre_mix", grouped)
    x = b.add("Mul", b.reshape(b.wide("streams"), *grouped), gates)
    y = b.sum(x, len(grouped) - 2, keepdims=0)
    scale = b.attr("reduction_scale", 1.0)
    return b.narrow(y if scale == 1 else b.add("Mul", y, b.const(scale)), "streams")


def _gates(b, name, grouped):
    """Reshape gates (..., C), (..., C, 1), (..., C, H) or (..., C * H) for streams (..., C, H)."""
    shape, x = b.shape(name), b.wide(name)
    if len(shape) == len(grouped):
        return x
    is_by_feature = shape[-1] != grouped[-2] and shape[-1] == math.prod(grouped[-2:])
    return b.reshape(x, *shape[:-1], grouped[-2], grouped[-1] if is_by_feature else 1)


@expands(
    "HyperConnectionPostMix",
    inputs="streams block_output post_mix stream_mix",
    outputs="output",
)
def post_mix(b: Body):
    """Add the gated output of a block to the mixed streams."""
    shape = b.shape("streams")
    grouped = _grouped(b, "streams", shape)
    x = b.reshape(b.wide("streams"), *grouped)
    if b.has("stream_mix"):
        axes = list(range(len(grouped)))
        axes[-2:] = axes[:-3:-1]
        x = b.add("MatMul", b.transpose(b.wide("stream_mix"), *axes), x)
    output = b.unsqueeze(b.wide("block_output"), len(grouped) - 2)
    y = b.add("Add", x, b.add("Mul", _gates(b, "post_mix", grouped), output))
    return b.narrow(b.reshape(y, *shape), "streams")
