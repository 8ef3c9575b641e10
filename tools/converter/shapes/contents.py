"""Compute the contents of small integer tensors that follow from shapes, with Extents among them.

A chain of Shape, Gather, Concat, Mul, ... computes a shape from others. Where those are fixed,
constant folding removes the chain. This module computes the other chains, as numpy arrays of
objects.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ..errors import Problem
from ..protos import attributes_of
from . import extent

_MOST = 64  # elements; a larger tensor is data, not a shape
_INTEGERS = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)


def of_constant(data: np.ndarray) -> np.ndarray | None:
    """Return the contents of a constant that may be a shape, an index or a count, else None."""
    if data.dtype not in (np.int16, np.int32, np.int64) or data.size > _MOST:
        return None
    return np.array(data.tolist(), object)


def of_shape(dims: Sequence[int], attrs: dict) -> np.ndarray:
    """Return the output of Shape."""
    return np.array([*dims][attrs.get("start", 0) : attrs.get("end")], object)


def evaluate(node: onnx.NodeProto, inputs: Sequence[np.ndarray | None]) -> np.ndarray | None:
    """Return the contents of a node's output, None if its inputs' contents do not decide them."""
    rule = _RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    if rule is None or any(x is None for x in inputs) or not inputs:
        return None
    attrs = attributes_of(node)
    try:
        result = rule(attrs, *inputs)
    except (IndexError, ValueError, TypeError, ZeroDivisionError, Problem):
        return None
    if result is None:
        return None
    result = np.asarray(result, object)
    return None if result.size > _MOST else result


def _gather(attrs, x, index):
    return np.take(x, index.astype(np.int64), attrs.get("axis", 0))


def _cast(attrs, x):
    return x if attrs["to"] in _INTEGERS else None


def _squeeze(attrs, x, axes=None):
    axes = attrs.get("axes") if axes is None else axes.tolist()
    return np.squeeze(x, tuple(axes) if axes else None)


def _unsqueeze(attrs, x, axes=None):
    return np.expand_dims(x, tuple(attrs["axes"] if axes is None else axes.tolist()))


def _slice(attrs, x, starts=None, ends=None, axes=None, steps=None):
    if x.ndim != 1:
        return None
    start = attrs["starts"][0] if starts is None else starts.item()
    end = attrs["ends"][0] if ends is None else ends.item()
    if extent.any_open((start, end)):
        return None
    return x[start : end : 1 if steps is None else steps.item()]


def _elementwise(f: Callable) -> Callable:
    return lambda attrs, *xs: np.asarray(_reduced(np.frompyfunc(f, 2, 1), xs), object)


def _reduced(f, xs):
    total = xs[0]
    for x in xs[1:]:
        total = f(total, x)
    return total


def _product(attrs, x, axes=None):
    flat = x.reshape(-1).tolist()
    total = 1
    for v in flat:
        total = total * v
    shape = (1,) * x.ndim if attrs.get("keepdims", 1) else ()
    return np.array(total, object).reshape(shape) if x.ndim == 1 else None


def _quotient(a, b):
    """Divide integers that are not negative as Div does. Raises ValueError for others."""
    if a < 0 or b < 0:
        raise ValueError
    return a // b


_RULES = {
    "Identity": lambda attrs, x: x,
    "Gather": _gather,
    "Concat": lambda attrs, *xs: np.concatenate(xs, attrs["axis"]),
    "Cast": _cast,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Reshape": lambda attrs, x, shape: x.reshape(shape.astype(np.int64)),
    "Slice": _slice,
    "Add": _elementwise(operator.add),
    "Sub": _elementwise(operator.sub),
    "Mul": _elementwise(operator.mul),
    "Div": _elementwise(_quotient),
    "Max": _elementwise(extent.larger),
    "Min": _elementwise(extent.smaller),
    "ReduceProd": _product,
}
