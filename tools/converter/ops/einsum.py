"""Lower Einsum to kernels move, reduce and gemm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..ir import Tensor
from ..shapes import equations
from . import lowers
from ._dtypes import FLOATS, INTS
from ._move import emit_move, strides_of
from .gemm import emit_gemm
from .reduce import emit_reduce

_SUM = 0  # operation of kernel reduce


@dataclass
class _Term:
    """A tensor with the label of each axis. A label that comes twice means the diagonal."""

    t: Tensor
    labels: list[str]


@lowers("Einsum")
def lower_einsum(node):
    """Lower Einsum by two terms at a time. Labels that no later term needs are summed at once."""
    dtype = node.require_dtype(*FLOATS, *INTS)
    terms, result, sizes = _parse(node)
    acc = terms.pop(0)
    while terms:
        other = terms.pop(0)
        needed = {label for term in terms for label in term.labels} | set(result)
        acc = _product(node, dtype, acc, other, needed, sizes)
    final = _summed(node, acc, result, sizes)
    node.alias(node.outputs[0], final.t)


def _parse(node):
    """Return the terms, the labels of the output, and the size of each label."""
    labels, result, sizes = equations.parsed(node.attr("equation"), [t.shape for t in node.inputs])
    return [*map(_Term, node.inputs, labels)], result, sizes


def _product(node, dtype, a: _Term, b: _Term, needed, sizes) -> _Term:
    """Emit one gemm of two terms; return the term (batch labels, labels of a, labels of b).

    Args:
        node: the node to lower.
        dtype: dtype of the product.
        a: the first term.
        b: the second term.
        needed: labels that the output or later terms have; the others are summed over.
        sizes: {label: extent}.
    """
    ours, theirs = set(a.labels), set(b.labels)
    shared = [label for label in sizes if label in ours and label in theirs]
    batch = [label for label in shared if label in needed]
    inner = [label for label in shared if label not in needed]
    a_only = [label for label in sizes if label in (ours - theirs) & needed]
    b_only = [label for label in sizes if label in (theirs - ours) & needed]
    a = _summed(node, a, [*batch, *a_only, *inner], sizes)
    b = _summed(node, b, [*batch, *b_only, *inner], sizes)
    labels = [*batch, *a_only, *b_only]
    out = node.temp(dtype, [sizes[label] for label in labels])
    n0, m, n, k = (_size(group, sizes) for group in (batch, a_only, b_only, inner))
    emit_gemm(node, a.t, b.t, out, (1, n0, m, n, k), False, (0, 1, 0, 1))
    return _Term(out, labels)


def _summed(node, term: _Term, keep: Sequence[str], sizes) -> _Term:
    """Return a term with its axes in the order of `keep`, summed over all other axes.

    Args:
        node: the node to lower.
        term: a tensor with a label for each axis.
        keep: labels of the result.
        sizes: {label: extent}.
    """
    drop = [label for label in dict.fromkeys(term.labels) if label not in keep]
    t = _arranged(node, term, [*keep, *drop], sizes)
    if drop:
        out = node.temp(t.dtype, [sizes[label] for label in keep])
        emit_reduce(node, _SUM, 0, t, out, range(len(keep), len(t.shape)))
        t = out
    return _Term(t, list(keep))


def _arranged(node, term, order, sizes) -> Tensor:
    """Return the tensor of a term with its axes in another order, by a move.

    A repeated label takes the diagonal, a missing one or an extent of 1 broadcasts.

    Args:
        node: the node to lower.
        term: a tensor with a label for each axis.
        order: labels of the result.
        sizes: {label: extent}.
    """
    shape = [sizes[label] for label in order]
    if list(order) == term.labels and tuple(shape) == term.t.shape:
        return term.t
    strides = dict.fromkeys(order, 0)
    for label, d, s in zip(term.labels, term.t.shape, strides_of(term.t.shape), strict=True):
        strides[label] += s if d > 1 else 0
    x_strides = [strides[label] for label in order]
    if term.t.data is not None:
        flat = np.ascontiguousarray(term.t.data).reshape(-1)
        steps = [s * flat.itemsize for s in x_strides]
        return node.constant(np.lib.stride_tricks.as_strided(flat, shape, steps))
    out = node.temp(term.t.dtype, shape)
    emit_move(node.emit, term.t, out, shape, x_strides, strides_of(shape))
    return out


def _size(labels, sizes):
    return math.prod(sizes[label] for label in labels)
