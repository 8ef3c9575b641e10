"""RandomUniform, RandomNormal, their Like forms, Bernoulli, Multinomial, Dropout."""

from __future__ import annotations

import math
import struct

import numpy as np

from ..errors import Problem
from . import lowers
from ._dtypes import BOOL, FLOAT, FLOATS
from ._elementwise import binary, emit_binary, float_bits
from .cast import emit_cast
from .reduce import emit_reduce

_UNIFORM, _NORMAL = 0, 1
_SUM = 0  # of kernel reduce


@lowers("RandomUniform", "RandomUniformLike")
def lower_random_uniform(node):
    _emit_random(node, _UNIFORM, node.attr("low", 0.0), node.attr("high", 1.0), node.outputs[0])


@lowers("RandomNormal", "RandomNormalLike")
def lower_random_normal(node):
    _emit_random(node, _NORMAL, node.attr("mean", 0.0), node.attr("scale", 1.0), node.outputs[0])


@lowers("Bernoulli")
def lower_bernoulli(node):
    """1 with the probability x. (The body that ONNX gives would make it 1 - x.)"""
    x, out = node.inputs[0], node.outputs[0]
    drawn = node.temp(x.dtype, x.shape)
    _emit_random(node, _UNIFORM, 0.0, 1.0, drawn)
    emit_cast(node, binary(node, "less", drawn, x, BOOL), out)


@lowers("Multinomial")
def lower_multinomial(node):
    """The class of a sample: how many of the sums of the classes before each are not above it."""
    node.require_dtype(FLOAT)
    x, out = node.inputs[0], node.outputs[0]
    batch, classes = x.shape
    samples = out.shape[1]
    shares, sums = (node.temp(FLOAT, (batch, classes)) for _ in range(2))
    lines = {"outer": batch, "n": classes, "inner": 1}
    node.emit("softmax", [x], [shares], op=0, **lines)
    # exclusive sums: the first is 0 and never above, so the count is one too many
    node.emit("cumulate", [shares], [sums], product=0, exclusive=1, reverse=0, **lines)
    drawn = node.temp(FLOAT, (batch, samples, 1))
    _emit_random(node, _UNIFORM, 0.0, 1.0, drawn)
    sums = node.reshaped(sums, (batch, 1, classes))
    above = binary(node, "lessequal", sums, drawn, BOOL)
    counted, count = node.temp(out.dtype, above.shape), node.temp(out.dtype, out.shape)
    emit_cast(node, above, counted)
    emit_reduce(node, _SUM, 0, counted, count, [2])
    emit_binary(node, "sub", count, 1, out)


@lowers("Dropout", fixes_shape=(1, 2), at_run_time=(1,))
def lower_dropout(node):
    """training_mode is an input from opset 12 on; before that Dropout only exists at inference.

    The mask, which ONNX then leaves open, is onnxruntime's: false before opset 12, true since.
    """
    trains = node.input(2) is not None and node.const(2, "training_mode").any()
    x, out, mask = (*node.inputs[:1], *node.outputs, None)[:3]
    if trains and _ratio(node) != 0:
        _emit_dropout(node, x, out, mask or node.temp(BOOL, x.shape))
        return
    node.alias(out, x)
    if mask is not None:
        mask.data = np.full(mask.shape, node.opset >= 12, mask.np_dtype)


def _emit_dropout(node, x, out, mask):
    """out = mask * x * scale, rounded twice, as onnx's reference implementation does."""
    node.require_dtype(*FLOATS)
    ratio = _ratio(node)
    if not 0 <= ratio < 1:
        raise Problem(f"ratio {ratio} in training mode", "it must be from 0 to below 1")
    seed = node.attr("seed")
    word = _signed(seed) if seed is not None else _hash(node.name)
    upper, lower = divmod(math.ceil(float(ratio) * 2**53), 2**26)
    node.emit("dropout", [], [mask], seed=word, upper=upper, lower=lower)
    kept = node.temp(x.dtype, x.shape)
    emit_cast(node, mask, kept)
    emit_binary(node, "mul", binary(node, "mul", kept, x), 1 / (1 - ratio), out)


def _ratio(node):
    """What part is dropped; 1/2 where it is left out."""
    return np.float32(0.5) if node.input(1) is None else node.const(1, "ratio").reshape(())[()]


def _emit_random(node, op, a, b, out):
    """The seed is a float: its bits serve. Without one, the node's name makes its own."""
    seed = node.attr("seed")
    bits = float_bits(seed) if seed is not None else _hash(node.name)
    node.emit("random", [], [out], op=op, a=float_bits(a), b=float_bits(b), seed=bits)


def _hash(text):
    """FNV-1a, as a signed word."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return _signed(value)


def _signed(value):
    """The lower 32 bits, as a signed word."""
    return struct.unpack("<i", struct.pack("<I", value & 0xFFFFFFFF))[0]
