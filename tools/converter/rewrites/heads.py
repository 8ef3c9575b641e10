"""Merge attention (Softmax of queries times keys, times values) into one operator, Heads.

1. The pattern is MatMul(queries, keys), then multiplications and divisions by positive numbers,
   then Softmax over the last axis, then MatMul by values. No intermediate value has another
   reader.
2. Before the Softmax may be an Add of a causal mask: 0 up to the diagonal, at most -1e30 above it.
3. Queries, keys and values may be views of other tensors: results of Reshape, Transpose, Squeeze,
   Unsqueeze, Flatten, Split, and Gather of one index. Queries and keys may also be products with
   numbers. Heads reads the original tensors by strides.
4. A Transpose of the result that keeps the last axis becomes part of Heads as well.

Only lowering uses the operator: a model that is saved keeps the original nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from ..ops.attention import HeadLayout, is_served
from . import _graph as g
from .transposes import perm_of

_LEAST = -1e30  # added to a score, it leaves nothing of its power
_MOST_ELEMENTS = 1 << 22


def rewrite(model: ir.Model) -> int:
    return sum(_merged(node) for node in g.nodes_of(model, "Softmax"))


def _merged(softmax):
    """Merge the attention around one Softmax. Return True if that was possible."""
    x, last = softmax.inputs[0], g.sole_reader(softmax.outputs[0])
    shape = g.shape_of(x)
    if not g.is_op(last, "MatMul") or last.inputs[0] is not softmax.outputs[0]:
        return False
    if not shape or not 2 <= len(shape) <= 4 or 0 in shape or not g.is_float(x):
        return False
    if g.attr(softmax, "axis", -1) not in (-1, len(shape) - 1) or g.opset_of(softmax) < 13:
        return False
    x, causal = _unmasked(x)
    x, scale = _unscaled(x)
    product = g.sole_maker(x, "MatMul")
    if product is None or g.shape_of(last.outputs[0]) is None:
        return False
    q, k = _Place.of(product.inputs[0]), _Place.of(product.inputs[1], True)
    v = _Place.of(last.inputs[1], is_scaled=False)
    if None in (q, k, v) or not q.rank == k.rank == v.rank == len(shape):
        return False
    scale *= q.scale * k.scale
    if not is_served([p.layout for p in (q, k, v)], scale) or k.layout.dims[1] != q.layout.dims[1]:
        return False
    return _put(softmax, last, (q, k, v), scale, causal)


@dataclass
class _Place:
    """A view of a tensor.

    Attributes:
        value: the tensor.
        dims: dims of the view.
        strides: elements between neighbours along each axis; the last one is 1.
        first: index of the first element of the view in the tensor.
        scale: factor of all elements.
    """

    value: ir.Value
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    first: int
    scale: float

    @property
    def rank(self) -> int:
        return len(self.dims)

    @property
    def layout(self) -> HeadLayout:
        more = 4 - self.rank
        return HeadLayout((1,) * more + self.dims, (0,) * more + self.strides[:-1])

    @classmethod
    def of(cls, value: ir.Value, is_turned: bool = False, is_scaled: bool = True) -> _Place | None:
        """Return a value as a view of the earliest tensor that it can be read from.

        The view is found with numpy: the nodes in between are applied to an array of zeros, and
        the strides of the result are those of the view. Returns None if no view has its last axis
        contiguous.

        Args:
            value: queries, keys or values.
            is_turned: swap the last two axes.
            is_scaled: allow products with numbers on the way.
        """
        result, path, scale = None, [], 1.0
        while (shape := g.shape_of(value)) and g.is_float(value):
            if g.const(value) is not None or np.prod(shape) > _MOST_ELEMENTS:
                break
            base = np.zeros(shape, np.float32)
            view = base
            for step in reversed(path):
                view = step(view)
                if not np.shares_memory(view, base):
                    return result
            if is_turned:
                view = view.swapaxes(-1, -2)
            strides = [
                s // 4 if d > 1 else 0 for s, d in zip(view.strides, view.shape, strict=True)
            ]
            if (strides[-1] == 1 or view.shape[-1] == 1) and min(strides) >= 0:
                first = (view.ctypes.data - base.ctypes.data) // 4
                result = cls(value, view.shape, (*strides[:-1], 1), first, scale)
            made = value.producer()
            if made is None:
                break
            if is_scaled and (number := _factor(made)) is not None:
                value, factor = number
                scale *= factor
                continue
            step = _step(made, value)
            if step is None:
                break
            path.append(step)
            value = made.inputs[0]
        return result


def _factor(node):
    """Return (the other operand, number) of a product or quotient with a number; else None."""
    if not g.is_op(node, "Mul", "Div"):
        return None
    a, b = node.inputs
    if g.is_op(node, "Mul") and g.scalar(b) is None:
        a, b = b, a
    number = g.scalar(b)
    if not number or number <= 0 or g.shape_of(a) != g.shape_of(node.outputs[0]):
        return None
    return a, number if g.is_op(node, "Mul") else 1 / number


def _step(node, value):
    """Return a function that applies the node to a numpy array; None for other operators."""
    shape = g.shape_of(value)
    if g.is_op(node, "Reshape", "Squeeze", "Unsqueeze", "Flatten"):
        return lambda x: x.reshape(shape)
    if g.is_op(node, "Transpose"):
        perm = perm_of(node)
        return None if perm is None else lambda x: x.transpose(perm)
    if g.is_op(node, "Gather"):
        number, axis = g.scalar(node.inputs[1]), g.attr(node, "axis", 0)
        return None if number is None else lambda x: np.moveaxis(x, axis, 0)[number].reshape(shape)
    if g.is_op(node, "Split"):
        axis, place = g.attr(node, "axis", 0), node.outputs.index(value)
        sizes = [(g.shape_of(out) or (0,) * 8)[axis] for out in node.outputs]
        first, size = sum(sizes[:place]), sizes[place]
        return lambda x: np.moveaxis(np.moveaxis(x, axis, 0)[first : first + size], 0, axis)
    return None


def _unscaled(x):
    """Return (x, number) of a value that is x times a number."""
    scale = 1.0
    while (made := g.sole_maker(x, "Mul", "Div")) is not None:
        product = _factor(made)
        if product is None:
            break
        x, scale = product[0], scale * product[1]
    return x, scale


def _unmasked(x):
    """Return (a, 1) if x is a plus a constant causal mask, else (x, 0)."""
    made = g.sole_maker(x, "Add")
    shape = g.shape_of(x)
    for a, b in ((0, 1), (1, 0)) if made is not None else ():
        mask = g.const(made.inputs[b])
        if mask is None or g.shape_of(made.inputs[a]) != shape or mask.shape[-2:] != shape[-2:]:
            continue
        seen = np.tril(np.ones(shape[-2:], bool))
        if not mask[..., seen].any() and (mask[..., ~seen] <= _LEAST).all():
            return made.inputs[a], 1
    return x, 0


def _put(softmax, last, places, scale, causal):
    """Replace the nodes of the pattern by Heads.

    Args:
        softmax: names the new node.
        last: the MatMul by values; a Transpose behind it is replaced as well.
        places: views of queries, keys and values.
        scale: factor of the scores.
        causal: 1 if each query only sees keys up to its own position, else 0.
    """
    out, shape = last, g.shape_of(last.outputs[0])
    axes = list(range(len(shape)))
    turned = g.sole_reader(last.outputs[0])
    if g.is_op(turned, "Transpose"):
        perm = perm_of(turned)
        if perm is not None and perm[-1] == len(shape) - 1:
            out, shape = turned, g.shape_of(turned.outputs[0])
            axes = [perm.index(a) for a in axes]
    attributes = {"scale": scale, "causal": causal, "out_axes": axes, "out_shape": list(shape)}
    for name, place in zip("qkv", places, strict=True):
        attributes[f"{name}_dims"] = list(place.layout.dims)
        attributes[f"{name}_strides"] = list(place.layout.strides)
        attributes[f"{name}_first"] = place.first
    inputs = [place.value for place in places]
    like = out.outputs[0]
    made = g.add(out, "Heads", inputs, attributes, g.OWN, like=like, shape=shape, named=softmax)
    return g.replace(out, made)
