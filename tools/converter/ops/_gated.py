"""Recurrent layers in fixed point: emission of kernel gated, and its packed weights."""

from __future__ import annotations

import numpy as np

from mpconnxr.ops.gated import WORDS

from ..ir import Tensor
from ..numbers.gate_table import gate_table
from ._block import HALF, is_block, mantissas
from ._dtypes import FLOAT

_MAX_NELEM = {"RNN": 120, "GRU": 480, "LSTM": 480}  # elements of x and of h, at most
_BITS = 24  # of a mantissa
_POINT = 28  # fractional bits of a bias
_LIMIT = 1 << 50
_KINDS = {"RNN": 0, "GRU": 1, "LSTM": 3}
_AFTER = 2  # kind of a GRU with linear_before_reset
_RELU = 4  # kind of an RNN with relu
_DEFAULTS = {"RNN": ["tanh"], "GRU": ["sigmoid", "tanh"], "LSTM": ["sigmoid", "tanh", "tanh"]}


def is_gated(node, option, directions) -> bool:
    """Return True if kernel gated computes the node (RNN, GRU or LSTM).

    `option` is linear_before_reset of GRU, and input_forget of LSTM.
    """
    x, *weights = (node.inputs + [None] * 3)[:4]
    served = [_DEFAULTS[node.op] * directions] + [["relu"] * directions] * (node.op == "RNN")
    if _functions(node, directions) not in served or node.attr("clip") is not None:
        return False
    if node.op == "LSTM" and (option or node.input(7) is not None):
        return False
    if node.is_short or node.held_bits != _BITS or node.input(4) is not None:
        return False
    if any(t is not None and t.data is None for t in weights):
        return False
    sizes = [t.shape[2] for t in weights[:2]]
    if max(sizes) > _MAX_NELEM[node.op] or weights[2] and not np.isfinite(weights[2].data).all():
        return False
    return all(is_block(node, x, t, k) for t, k in zip(weights, sizes, strict=False))


def _functions(node, directions):
    names = node.attr("activations") or _DEFAULTS[node.op] * directions
    return [(n.decode() if isinstance(n, bytes) else n).lower() for n in names]


def emit_gated(node, cell, shape, option, reverse) -> None:
    """Emit kernel gated for each direction of a recurrent layer.

    Args:
        node: the node to lower.
        cell: its Cell.
        shape: sizes of the layer.
        option: linear_before_reset of GRU, input_forget of LSTM.
        reverse: True for each direction that runs backwards.
    """
    number = _AFTER if node.op == "GRU" and option else _KINDS[node.op]
    if "relu" in _functions(node, shape.directions):
        number = _RELU
    initial = [initial_state(node, i) for i in (5, 6)[: cell.n_states]] + [None] * (
        2 - cell.n_states
    )
    outputs = (node.outputs + [None] * 3)[:3]
    tensors = initial + outputs
    present = sum((t is not None) << i for i, t in enumerate(tensors))
    states = zip(initial, outputs[1:], strict=True)
    in_place = [pair for pair in states if None not in pair]
    table = node.constant(gate_table())
    words = node.temp(FLOAT, (cell.n_states * shape.batch + WORDS[number], shape.hidden))
    named = shape.named
    for d in range(shape.directions):
        node.emit(
            "gated",
            [node.inputs[0], _weights(node, number, cell.n_gates, d), table]
            + [t for t in initial if t is not None],
            [t for t in outputs if t is not None],
            scratch=[words],
            macs=shape.seq
            * shape.batch
            * cell.n_gates
            * shape.hidden
            * (shape.inputs + shape.hidden),
            in_place=in_place,
            **named(d),
            kind=number,
            reverse=reverse[d],
            present=present,
        )


def initial_state(node, i: int) -> Tensor | None:
    """Return an initial state, or None if it is zero."""
    t = node.input(i)
    return t if t is not None and (t.data is None or t.data.any()) else None


def _weights(node, number, n_gates, d):
    """Return the packed rows of direction d, as loops/gated reads them."""
    w, r = (t.data[d] for t in node.inputs[1:3])
    rows = len(w)
    bias = node.input(3)
    of_w, of_r = np.zeros((2, rows)) if bias is None else bias.data[d].reshape(2, rows)
    of_w, of_r = of_w.astype(np.float64), of_r.astype(np.float64)
    if number != _AFTER:
        words = _rows(of_w + of_r, w, r).ravel()
        if node.op == "RNN":
            words = np.append(words, (of_w + of_r).astype(np.float32).view(np.int32))
        return node.constant(words)
    n = rows // n_gates
    zr, new = slice(0, 2 * n), slice(2 * n, None)
    parts = [_rows(of_w[zr] + of_r[zr], w[zr], r[zr])]
    parts += [_rows(of_w[new], w[new], None), _rows(of_r[new], None, r[new])]
    return node.constant(np.concatenate([part.ravel() for part in parts]))


def _rows(bias, w, r):
    """Pack rows of words: bias, then rows of w and of r (or None), each with its exponent."""
    units = np.round(np.ldexp(bias, _POINT)).clip(-_LIMIT, _LIMIT).astype(np.int64)
    low, high = units & 0xFFFFFF, (units >> 24) + (1 << 29)
    columns = [] if w is None else [_signed(w)]
    low |= (columns[0][1] if columns else np.zeros_like(low)) << 24
    parts = [low[:, None], high[:, None]] + [m for m, _ in columns]
    if r is not None:
        whole, exponents = _signed(r)
        parts += [exponents[:, None], whole]
    return np.concatenate(parts, 1).astype(np.uint32).view(np.int32)


def _signed(rows):
    whole, exponents = mantissas(rows)
    return whole.astype(np.int64) - HALF, exponents.astype(np.int64)
