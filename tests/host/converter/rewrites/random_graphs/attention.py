"""Random graphs of attention, as exporters write it."""

from __future__ import annotations

import math

import numpy as np

from .builder import Builder

_NEVER = (-np.inf, float(np.finfo(np.float32).min), -1e31)  # added to a score, no power is left
_RARELY = (-1e4,)


def heads(b: Builder) -> None:
    """Add attention: Softmax of queries and keys, times values, in any layout of the heads."""
    batch, n_heads, width = b.choice(1, 1, 2), b.choice(1, 2, 3), b.integer(1, 4)
    n_queries = b.integer(1, 5)
    n_keys = n_queries if b.chance(0.7) else b.integer(1, 6)
    shape = (batch, n_heads, width)
    q, k, v = _operands(b, n_queries, n_keys, shape)
    kind = b.choice("scores", "operands", "query", "none")
    scale = b.choice(1 / math.sqrt(width), 0.125, 2.0, -0.5)
    if kind in ("operands", "query"):
        q = _scaled(b, q, scale)
    k = _scaled(b, k, scale) if kind == "operands" else k
    scores = b.op("MatMul", q, b.transpose(k, (0, 1, 3, 2)))
    scores = _scaled(b, scores, scale) if kind == "scores" else scores
    if b.chance(0.4):
        mask = np.triu(np.full((n_queries, n_keys), b.choice(*_NEVER * 3, *_RARELY)), 1)
        mask = np.nan_to_num(mask, nan=0.0, neginf=-np.inf).astype(np.float32)
        if b.chance(0.2):
            mask[b.integer(0, n_queries - 1), 0] = 0.5
        mask = mask if b.chance(0.5) else mask[None, None]
        scores = b.op("Add", *b.choice((scores, mask), (mask, scores)))
    powers = b.op("Softmax", scores, axis=b.choice(-1, -1, -1, 3, 2))
    if b.chance(0.1):
        b.op("Neg", powers)
    y = b.op("MatMul", powers, v)
    if b.chance(0.7):
        y = b.transpose(y, b.choice((0, 2, 1, 3), (0, 2, 1, 3), (1, 0, 2, 3), (0, 1, 3, 2)))
        if b.chance(0.7):
            y = b.reshape(y, *b.regrouped(b.shape(y)))
    b.behind(y)


def _scaled(b, x, by):
    number = np.full(b.choice((), (1,)), by, np.float32)
    return b.op("Mul", x, number) if b.chance(0.6) else b.op("Div", x, 1 / number)


def _operands(b, n_queries, n_keys, shape):
    """Return queries, keys and values (batch, heads, rows, width).

    Args:
        b: the builder.
        n_queries: rows of the queries.
        n_keys: rows of keys and values.
        shape: (batch, heads, width).
    """
    batch, n_heads, width = shape
    if n_queries == n_keys and b.chance(0.4):  # parts of one product
        axis = b.choice(0, 2)
        row = [3, n_heads, width]
        x = b.reshape(b.source([batch, n_queries, math.prod(row)]), batch, n_queries, *row)
        if axis == 0:
            x = b.transpose(x, (2, 0, 3, 1, 4))
            return [b.gather(x, 0, i) for i in range(3)]
        parts = [b.squeeze(part, 2) for part in b.split(x, 2, [1] * 3)]
        return [b.transpose(part, (0, 2, 1, 3)) for part in parts]
    return [_operand(b, rows, shape) for rows in (n_queries, n_keys, n_keys)]


def _operand(b, rows, shape):
    batch, n_heads, width = shape
    if b.chance(0.3):
        return b.source([batch, n_heads, rows, width])
    x = b.reshape(b.source([batch, rows, n_heads * width]), batch, rows, n_heads, width)
    return b.transpose(x, (0, 2, 1, 3))
