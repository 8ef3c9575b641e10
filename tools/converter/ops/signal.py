"""Lower DFT and STFT to kernel dft, window functions to window, and MelWeightMatrix."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import Problem
from ..ir import Tensor
from ..shapes import extent
from ..shapes.extent import any_open
from . import lowers
from ._dtypes import FLOAT, FLOATS
from ._elementwise import binary, float_bits
from ._extents import store
from ._move import emit_move, strides_of
from .constant import fold_known

_FORWARD, _INVERSE, _TO_REAL = range(3)
_TABLE_BITS = 28  # fractional bits of cosines for float32
_MAX_ODD = 16383  # odd factor of a length, the kernel's limit
_BIAS = 1 << 29  # the kernel's


@lowers("DFT", fixes_shape=(1, 2))
def lower_dft(node):
    """Lower DFT. axis is an attribute before opset 20, then an input.

    dft_length truncates the signal, or pads it with zeros.
    """
    node.require_dtype(*FLOATS)
    x, out = node.inputs[0], node.outputs[0]
    if node.opset < 20:
        axis = node.attr("axis", 1)
    else:
        axis = int(node.const(2, "axis").item()) if node.input(2) is not None else -2
    axis %= len(x.shape)
    op = _FORWARD
    if node.attr("inverse", 0):
        op = _TO_REAL if node.attr("onesided", 0) else _INVERSE
    length = _length(node, x.shape[axis], op)
    if axis == len(x.shape) - 1:
        raise Problem("axis is that of the real and imaginary parts")
    emit_dft(node, op, x, out, axis, length)


def _length(node, n, op):
    if node.input(1) is not None:
        return int(node.const(1, "dft_length").item())
    return 2 * (n - 1) if op == _TO_REAL else n


def emit_dft(node, op: int, x: Tensor, out: Tensor, axis: int, length: int) -> None:
    """Emit a Fourier transform over an axis.

    Args:
        node: the node to lower.
        op: _FORWARD, _INVERSE or _TO_REAL.
        x: (..., parts): real, or real and imaginary.
        out: the output.
        axis: the axis.
        length: length of the transform.
    """
    if length < 1:
        raise Problem(f"dft_length {length}")
    angles = 2 * np.pi * np.arange(length) / length
    table = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if x.dtype == FLOAT:
        if length // (length & -length) > _MAX_ODD:
            raise Problem(f"dft_length {length} has an odd factor above {_MAX_ODD}")
        table = (np.rint(table * 2**_TABLE_BITS) + _BIAS).astype(np.int32)
    table = node.constant(table)
    outer, inner = math.prod(x.shape[:axis]), math.prod(x.shape[axis + 1 : -1])
    params = {"op": op, "outer": outer, "n": x.shape[axis], "inner": inner}
    params |= {"parts": x.shape[-1], "length": length, "n_out": out.shape[axis]}
    scratch = [node.temp(table.dtype, (4 * length,))]
    node.emit("dft", [x, table], [out], scratch=scratch, **params)


@lowers("STFT", fixes_shape=(1, 3))
def lower_stft(node):
    """Lower STFT: overlapping frames are copied, multiplied by the window and transformed."""
    node.require_dtype(*FLOATS)
    x, window, out = node.inputs[0], node.input(2), node.outputs[0]
    step = int(node.const(1, "frame_step").item())
    length = window.nelem if window is not None else int(node.const(3, "frame_length").item())
    batch, n_frames = out.shape[:2]
    if any_open(x.shape[2:]):
        raise Problem("a run decides whether the signal is complex")
    samples, parts = x.shape[1], x.shape[2] if len(x.shape) > 2 else 1
    if n_frames and (n_frames - 1) * step + length > samples:
        raise Problem("the last frame reaches beyond the signal")
    frames = node.temp(x.dtype, (batch, n_frames, length, parts))
    strides = [samples * parts, step * parts, parts, 1]
    emit_move(node.emit, x, frames, frames.shape, strides, strides_of(frames.shape))
    if window is not None:
        frames = binary(node, "mul", frames, node.reshaped(window, (length, 1)))
    emit_dft(node, _FORWARD, frames, out, 2, length)


# a + b * cos(angle) + c * cos(2 * angle)
_WINDOWS = {
    "HannWindow": (0.5, -0.5, 0.0),
    "HammingWindow": (25 / 46, -21 / 46, 0.0),
    "BlackmanWindow": (0.42, -0.5, 0.08),
}


@lowers(*_WINDOWS, fixes_shape=(0,), at_run_time=(0,))
def lower_window(node):
    if not fold_known(node):
        factors = [float_bits(v) for v in _WINDOWS[node.op]]
        _emit(node, "window", "count", periodic=node.attr("periodic", 1), factors=factors)


@lowers("MelWeightMatrix", fixes_shape=(0, 1, 2, 3, 4), at_run_time=(0, 1, 2, 3, 4))
def lower_mel_weights(node):
    if not fold_known(node):
        _emit(node, "mel_weights", "dims")


def _emit(node, kernel, dims, **params):
    """Emit a kernel in a float dtype, with a parameter `dims` for its run-time dimensions."""
    out = node.outputs[0]
    floats = out if out.dtype in FLOATS else node.temp(FLOAT, out.shape)
    params[dims] = _own_dims(node, out)
    node.emit(kernel, node.inputs, [_memory(node, floats)], **params)
    if floats is not out:
        node.emit("cast", [floats], [out])


def _own_dims(node, out: Tensor) -> Sequence[int]:
    """Return the numbers of the dimensions that the kernel decides: all or none."""
    own = all(extent.is_own(d, node.proto.output[0]) for d in out.shape)
    return [extent.number_of(d) for d in out.shape] if own else []


def _memory(node, t):
    return store(node, t) if t.is_open else t
