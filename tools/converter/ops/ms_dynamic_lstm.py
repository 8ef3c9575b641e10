"""Lower com.microsoft's DynamicQuantizeLSTM to kernel dynamic_lstm, a step for each direction."""

from __future__ import annotations

import numpy as np

from ..errors import Problem
from ..numbers.gate_table import gate_table
from . import MS, lowers
from ._dtypes import FLOAT, INT8, INT32, UINT8
from ._qweights import Weights as Rows
from ._qweights import pack, padded, scalar, unsigned
from .recurrent import LSTM, Shape, Weights, activations_of, emit_directions, lengths

_MAX_NELEM = 8192  # elements of x or of h that integers serve
_DEFAULTS = [2, 1, 1]  # sigmoid, tanh, tanh: numbers of the kernel's activations
_POINT = 26  # fractional bits of a bias, minus a multiple of _LESS
_BIAS_BITS = 2  # integer bits of a bias
_LESS = 6
_MAX_BIAS = 2.0**24
_RANGES = 10  # words for ranges and scales of x and of h
_RECORD = 4  # bytes in front of a row: the sum of its elements


def _infer(node):
    x, w = node.inputs[:2]
    seq, batch = x.shape[:2]
    state = [w.shape[0], batch, node.attr("hidden_size")]
    return [(FLOAT, [seq, w.shape[0], batch, state[2]]), (FLOAT, state), (FLOAT, state)]


@lowers("DynamicQuantizeLSTM", domain=MS, infer=_infer)
def lower_dynamic_lstm(node):
    """Lower DynamicQuantizeLSTM.

    Inputs 8 to 11 are scales and zero points of W (directions, I, 4 H) and R (directions, H, 4 H).
    """
    node.require_dtype(FLOAT)
    if not any(node.outputs):
        return
    s = Shape.of(node)
    if node.attr("hidden_size") != s.hidden or node.input(2).shape[1] != s.hidden:
        raise Problem("hidden_size does not fit R")
    rows = 4 * s.hidden
    biases = np.zeros((s.directions, 2 * rows), np.float32)
    if node.input(3) is not None:
        biases = node.const(3, "B")
    weights = []
    for d in range(s.directions):
        w, w_scale, w_zero = _rows(node, 1, 8, d)
        r, r_scale, r_zero = _rows(node, 2, 10, d)
        bias = biases[d, :rows] + biases[d, rows:]
        factors = np.stack(np.broadcast_arrays(w_scale, r_scale, bias)).astype(np.float32)
        records = _RECORD + padded(s.inputs) + s.batch * (_RECORD + padded(s.hidden))
        scratch = [node.temp(UINT8, (records,))]
        if _uses_integers(node, s, d):
            values = [w, r, _fixed(factors), gate_table()]
            scratch.append(node.temp(FLOAT, (_RANGES,)))
        else:
            values = [w, r, factors]
            scratch.append(node.temp(INT32, (rows,)))
        constants = [node.constant(v) for v in values]
        weights.append(Weights(constants, [w_zero, r_zero], scratch))
    emit_directions(node, "dynamic_lstm", LSTM, s, weights, node.attr("input_forget", 0))


def _uses_integers(node, s, d):
    """Return True for a direction that the kernel computes in integers."""
    if lengths(node, s) or node.input(7) is not None:
        return False
    if node.attr("input_forget", 0) or node.attr("clip"):
        return False
    activations = activations_of(node, LSTM, s.directions)[d][::3]
    return activations == _DEFAULTS and max(s.inputs, s.hidden) <= _MAX_NELEM


def _fixed(factors):
    """Return the bits of scales of W and R, and biases in two words (see loops/byte_gates)."""
    if not np.isfinite(factors).all():
        raise Problem("scales or biases that are not finite")
    biases = factors[2].astype(np.float64).clip(-_MAX_BIAS, _MAX_BIAS)
    _, exponents = np.frexp(biases)
    less = -(-np.maximum(exponents - _BIAS_BITS, 0) // _LESS) * _LESS
    units = np.ldexp(biases, _POINT - less).round()
    words = np.stack([units, less]).astype(np.int32)
    return np.concatenate([factors[:2].view(np.int32), words])


def _rows(node, i, scale, d):
    """Return packed rows, scales and zero point of an input in one direction.

    Args:
        node: the DynamicQuantizeLSTM.
        i: index of the input, W or R.
        scale: index of the input with its scales; its zero points follow.
        d: the direction.
    """
    t = node.inputs[i]
    if t.dtype not in (UINT8, INT8):
        raise Problem(f"{t} where bytes are needed")
    zero = 0
    if node.input(scale + 1) is not None:
        node.const(scale + 1)
        of_direction = node.constant(node.inputs[scale + 1].data.reshape(t.shape[0], -1)[d])
        zero = scalar(of_direction)
    if zero is None:
        raise Problem("zero points that differ from channel to channel")
    shift = 128 if t.dtype == INT8 else 0
    rows = Rows(unsigned(node.const(i)[d]).T, zero + shift)
    if not all(rows.fits(z) for z in (0, 255)):
        raise Problem(f"{t.name}: sums may exceed 32 bits")
    scales = node.const(scale).reshape(t.shape[0], -1)[d]
    return pack(rows.rows, 1, rows.constants(0), rows.per_zero()), scales, rows.zero
