"""Recurrent layers for kernel gated, in fixed point: which ones, and their weights."""

from __future__ import annotations

import numpy as np

from mpconnxr.ops.gated import WORDS

from ..numbers.gate_table import gate_table
from ._block import HALF, is_block, mantissas
from ._dtypes import FLOAT

_MOST = {"RNN": 120, "GRU": 480, "LSTM": 480}  # items of x, and of h
_BITS = 24  # of a mantissa
_POINT = 28  # bits behind the point of a bias
_LIMIT = 1 << 50
_KINDS = {"RNN": 0, "GRU": 1, "LSTM": 3}
_AFTER = 2  # GRU with linear_before_reset
_RELU = 4  # RNN
_USUAL = {"RNN": ["tanh"], "GRU": ["sigmoid", "tanh"], "LSTM": ["sigmoid", "tanh", "tanh"]}


def is_gated(node, option, directions) -> bool:
    """True for a node that kernel gated computes."""
    x, *weights = (node.inputs + [None] * 3)[:4]
    usual = [_USUAL[node.op] * directions] + [["relu"] * directions] * (node.op == "RNN")
    if _functions(node, directions) not in usual or node.attr("clip") is not None:
        return False
    if node.op == "LSTM" and (option or node.input(7) is not None):
        return False
    if node.is_short or node.held_bits != _BITS or node.input(4) is not None:
        return False
    if any(t is not None and t.data is None for t in weights):
        return False
    sizes = [t.shape[2] for t in weights[:2]]
    if max(sizes) > _MOST[node.op] or weights[2] and not np.isfinite(weights[2].data).all():
        return False
    return all(is_block(node, x, t, k) for t, k in zip(weights, sizes, strict=False))


def _functions(node, directions):
    names = node.attr("activations") or _USUAL[node.op] * directions
    return [(n.decode() if isinstance(n, bytes) else n).lower() for n in names]


def emit_gated(node, kind, shape, option, reverse) -> None:
    """A step a direction."""
    number = _AFTER if node.op == "GRU" and option else _KINDS[node.op]
    if "relu" in _functions(node, shape.directions):
        number = _RELU
    initial = [_state(node, i) for i in (5, 6)[: kind.n_states]] + [None] * (2 - kind.n_states)
    outputs = (node.outputs + [None] * 3)[:3]
    tensors = initial + outputs
    present = sum((t is not None) << i for i, t in enumerate(tensors))
    states = zip(initial, outputs[1:], strict=True)
    in_place = [pair for pair in states if None not in pair]
    table = node.constant(gate_table())
    words = node.temp(FLOAT, (kind.n_states * shape.batch + WORDS[number], shape.hidden))
    named = shape.named
    for d in range(shape.directions):
        node.emit(
            "gated",
            [node.inputs[0], _weights(node, number, kind.n_gates, d), table]
            + [t for t in initial if t is not None],
            [t for t in outputs if t is not None],
            scratch=[words],
            macs=shape.seq
            * shape.batch
            * kind.n_gates
            * shape.hidden
            * (shape.inputs + shape.hidden),
            in_place=in_place,
            **named(d),
            kind=number,
            reverse=reverse[d],
            present=present,
        )


def _state(node, i):
    """An initial state; None if it is zero."""
    t = node.input(i)
    return t if t is not None and (t.data is None or t.data.any()) else None


def _weights(node, number, n_gates, d):
    """One direction's rows, as loops/gated has them."""
    w, r = (t.data[d] for t in node.inputs[1:3])
    rows = len(w)
    bias = node.input(3)
    of_w, of_r = np.zeros((2, rows)) if bias is None else bias.data[d].reshape(2, rows)
    of_w, of_r = of_w.astype(np.float64), of_r.astype(np.float64)
    if number != _AFTER:
        found = _rows(of_w + of_r, w, r).ravel()
        if node.op == "RNN":
            found = np.append(found, (of_w + of_r).astype(np.float32).view(np.int32))
        return node.constant(found)
    n = rows // n_gates
    zr, new = slice(0, 2 * n), slice(2 * n, None)
    parts = [_rows(of_w[zr] + of_r[zr], w[zr], r[zr])]
    parts += [_rows(of_w[new], w[new], None), _rows(of_r[new], None, r[new])]
    return node.constant(np.concatenate([part.ravel() for part in parts]))


def _rows(bias, w, r):
    """w, r: rows of floats, or None."""
    units = np.round(np.ldexp(bias, _POINT)).clip(-_LIMIT, _LIMIT).astype(np.int64)
    low, high = units & 0xFFFFFF, (units >> 24) + (1 << 29)
    columns = [] if w is None else [_signed(w)]
    low |= (columns[0][1] if columns else np.zeros_like(low)) << 24
    made = [low[:, None], high[:, None]] + [m for m, _ in columns]
    if r is not None:
        found, exponents = _signed(r)
        made += [exponents[:, None], found]
    return np.concatenate(made, 1).astype(np.uint32).view(np.int32)


def _signed(rows):
    found, exponents = mantissas(rows)
    return found.astype(np.int64) - HALF, exponents.astype(np.int64)
