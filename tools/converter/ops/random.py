"""Lower RandomUniform, RandomNormal, their Like forms, Bernoulli, Multinomial and Dropout."""

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
_SUM = 0  # operation of kernel reduce


@lowers("RandomUniform", "RandomUniformLike")
def lower_random_uniform(node):
    _emit_random(node, _UNIFORM, node.attr("low", 0.0), node.attr("high", 1.0), node.outputs[0])


@lowers("RandomNormal", "RandomNormalLike")
def lower_random_normal(node):
    _emit_random(node, _NORMAL, node.attr("mean", 0.0), node.attr("scale", 1.0), node.outputs[0])


@lowers("Bernoulli")
def lower_bernoulli(node):
    """Lower Bernoulli: 1 with probability x. ONNX's function body would make it 1 - x."""
    x, out = node.inputs[0], node.outputs[0]
    drawn = node.temp(x.dtype, x.shape)
    _emit_random(node, _UNIFORM, 0.0, 1.0, drawn)
    emit_cast(node, binary(node, "less", drawn, x, BOOL), out)


@lowers("Multinomial")
def lower_multinomial(node):
    """Lower Multinomial.

    The class of a sample is the number of classes whose cumulated probability is not above a
    random number.
    """
    node.require_dtype(FLOAT)
    x, out = node.inputs[0], node.outputs[0]
    batch, classes = x.shape
    samples = out.shape[1]
    shares, sums = (node.temp(FLOAT, (batch, classes)) for _ in range(2))
    lines = {"outer": batch, "n": classes, "inner": 1}
    node.emit("softmax", [x], [shares], op=0, **lines)
    # Exclusive sums: the first is 0 and never above, so that the count is one too high.
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
    """Lower Dropout. Training mode is an input since opset 12; before, it is inference only.

    The mask, which ONNX leaves open at inference, is onnxruntime's: true since opset 12.
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
    """Emit out = mask * x * scale, rounded twice as in onnx's reference implementation."""
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
    """Return the ratio that is dropped, by default 1/2."""
    return np.float32(0.5) if node.input(1) is None else node.const(1, "ratio").reshape(())[()]


def _emit_random(node, op, a, b, out):
    """Emit random numbers: op with parameters a and b.

    The seed has the bits of the node's float attribute, or else is a hash of the node's name.
    """
    seed = node.attr("seed")
    bits = float_bits(seed) if seed is not None else _hash(node.name)
    node.emit("random", [], [out], op=op, a=float_bits(a), b=float_bits(b), seed=bits)


def _hash(text):
    """Return the FNV-1a hash of a text as a signed 32-bit integer."""
    value = 0x811C9DC5
    for byte in text.encode():
        value = (value ^ byte) * 0x01000193 & 0xFFFFFFFF
    return _signed(value)


def _signed(value):
    """Return the lower 32 bits as a signed integer."""
    return struct.unpack("<i", struct.pack("<I", value & 0xFFFFFFFF))[0]
