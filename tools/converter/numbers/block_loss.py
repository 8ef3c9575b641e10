"""Compute how much block floating point loses of a node's sums, compared with float32.

The sums are computed in float64, of a run's values themselves and of these values as a board's
mantissas represent them. Errors of a few units in the last place of the summed magnitudes are
float32's own, and do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from onnx import NodeProto, helper

from .narrow import rounded_weights
from .refinements import UNREFINED, Refinement

OWN = 2.0**-21  # of the sum of the products' magnitudes: 8 units in float32's last place
_BITS = 23  # bits of a mantissa without its sign
_AGREED = 1e-3  # of the largest value: by which float64 and float32 may differ


class UnlikeSums(Exception):
    """The sums that were computed here differ from onnxruntime's."""


class Loss:
    """The loss of one node in one run, compared with float32.

    Args:
        node: the node.
        values: the run's values by name.
        is_known: the second operand is a constant.
        refinement: how the product is rewritten.

    Attributes:
        error: loss of each sum, 0 where float32 loses as much.

    Raises:
        UnlikeSums: if onnxruntime computed other sums; numpy's errors if attributes do not fit.
    """

    def __init__(
        self,
        node: NodeProto,
        values: Mapping[str, np.ndarray],
        is_known: bool,
        refinement: Refinement = UNREFINED,
    ):
        self.attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.node, y = node, values[node.output[0]].astype(np.float64)
        x, w = (values[name].astype(np.float64) for name in node.input[:2])
        held, held_w = self._held(*refinement.operands(node, x, w), is_known, refinement)
        exact = self._product(x, w, y.shape)
        difference = self._product(held, held_w, y.shape) - exact
        sizes = self._product(np.abs(x), np.abs(w), y.shape, abs)
        self.error = np.where(np.abs(difference) > OWN * sizes, difference, 0.0)
        self._own = OWN * sizes
        self._sums = exact + self._added(values)
        activated = self._activated(self._sums)
        if not np.abs(activated - y).max(initial=0.0) <= _AGREED * np.abs(y).max(initial=0.0):
            raise UnlikeSums

    def _held(self, x, w, is_known, refinement):
        """Return both operands, rounded to the mantissas that a board computes with.

        Args:
            x: the first operand.
            w: the second operand.
            is_known: the second operand is a constant.
            refinement: how the product is rewritten.
        """
        held = sum(
            in_blocks(part, axes_of_values(self.node, x.ndim)) for part in refinement.parts(x)
        )
        if is_known:
            return held, rounded_weights(self.node, w, in_blocks)
        return held, in_blocks(w, inner(self.node, "B"))

    def own(self, seed: int) -> np.ndarray:
        """Return random errors of the size that float32's sums have."""
        return self._own * np.random.default_rng(seed).choice([-1.0, 1.0], self._own.shape)

    def of_output(self, error: np.ndarray) -> np.ndarray:
        """Return how an error of the sums changes the node's output."""
        changed = self._activated(self._sums + error)
        return (changed - self._activated(self._sums)).astype(np.float32)

    def _product(self, x, w, shape, sign=float):
        """Return the node's sums of products in float64, without bias and activation.

        Args:
            x: the first operand.
            w: the second operand.
            shape: shape of the output.
            sign: applied to alpha: float, or abs for the sums of magnitudes.
        """
        if "Conv" in self.node.op_type:
            return _convolution(self.node.op_type, self.attrs, x, w, shape)
        if self.attrs.get("transBatchA") or self.attrs.get("transBatchB"):
            raise UnlikeSums
        a = x.swapaxes(-1, -2) if self.attrs.get("transA") else x
        b = w.swapaxes(-1, -2) if self.attrs.get("transB") else w
        return sign(self.attrs.get("alpha", 1.0)) * (a @ b)

    def _added(self, values):
        """Return the bias, and the input that FusedConv adds."""
        terms = [values[name].astype(np.float64) if name else 0.0 for name in self.node.input[2:4]]
        if terms and "Conv" in self.node.op_type and np.ndim(terms[0]):
            rank = values[self.node.output[0]].ndim
            terms[0] = terms[0].reshape(-1, *[1] * (rank - 2))
        elif terms:
            terms[0] = self.attrs.get("beta", 1.0) * terms[0]
        return sum(terms)

    def _activated(self, sums):
        kind = self.attrs.get("activation", b"").decode()
        names = ("activation_alpha", "activation_beta")
        parameters = [self.attrs[name] for name in names if name in self.attrs]
        parameters = self.attrs.get("activation_params", parameters)
        if kind not in _ACTIVATIONS:
            raise UnlikeSums
        return _ACTIVATIONS[kind](sums, *parameters)


_ACTIVATIONS = {
    "": lambda v: v,
    "Relu": lambda v: np.maximum(v, 0),
    "LeakyRelu": lambda v, alpha=0.01: np.where(v < 0, alpha * v, v),
    "Clip": lambda v, low=-np.inf, high=np.inf: np.clip(v, low, high),
    "HardSigmoid": lambda v, alpha=0.2, beta=0.5: np.clip(alpha * v + beta, 0, 1),
    "Sigmoid": lambda v: 0.5 + 0.5 * np.tanh(v / 2),
    "Tanh": np.tanh,
}


def in_blocks(values: np.ndarray, axes: int | tuple[int, ...]) -> np.ndarray:
    """Round values to mantissas that share an exponent along these axes."""
    largest = np.abs(values).max(axes, keepdims=True, initial=0.0)
    unit = np.ldexp(1.0, np.maximum(np.frexp(largest)[1], -125) - _BITS)
    whole = np.minimum(np.floor(np.abs(values) / unit + 0.5), (1 << _BITS) - 1)
    return np.copysign(whole * unit, values)


def axes_of_values(node: NodeProto, rank: int) -> tuple[int, ...]:
    """Return the axes along which values of a node's first input share an exponent."""
    return tuple(range(1, rank)) if "Conv" in node.op_type else (inner(node, "A"),)


def inner(node: NodeProto, side: str) -> int:
    """Return the axis of operand A or B of a MatMul or Gemm that is summed over: -1 or -2."""
    swapped = any(a.name == f"trans{side}" and a.i for a in node.attribute)
    return -2 if swapped == (side == "A") else -1


def _convolution(op_type, attrs, x, w, shape):
    """Compute Conv or ConvTranspose of any number of spatial dims, without bias.

    Args:
        op_type: the operator.
        attrs: its attributes.
        x: the input.
        w: the weights.
        shape: shape of the output.
    """
    rank, groups = x.ndim - 2, attrs.get("group", 1)
    kernel, out = w.shape[2:], shape[2:]
    strides, dilations = (attrs.get(name, [1] * rank) for name in ("strides", "dilations"))
    reaches = [(k - 1) * d for k, d in zip(kernel, dilations, strict=True)]
    pads = _first_pads(op_type, attrs, x.shape[2:], reaches, strides, out)
    if op_type == "ConvTranspose":
        x, strides = _spread(x, strides), [1] * rank
        by_group = w.reshape(groups, -1, *w.shape[1:]).swapaxes(1, 2)
        w = np.flip(by_group.reshape(-1, by_group.shape[2], *kernel), tuple(range(2, rank + 2)))
        pads = [reach - pad for reach, pad in zip(reaches, pads, strict=True)]
    for axis in range(rank):
        length = (out[axis] - 1) * strides[axis] + reaches[axis] + 1
        x = _padded(x, 2 + axis, pads[axis], length)
    taps = sliding_window_view(x, [r + 1 for r in reaches], tuple(range(2, rank + 2)))
    taps = taps[(..., *(slice(None, None, s) for s in (*strides, *dilations)))]
    taps = np.moveaxis(taps, range(-rank, 0), range(2, rank + 2))
    rows = w.reshape(groups, w.shape[0] // groups, -1)
    images = [
        [rows[g] @ part.reshape(rows.shape[2], -1) for g, part in enumerate(np.split(t, groups))]
        for t in taps
    ]
    return np.array(images).reshape(shape)


def _first_pads(
    op_type: str,
    attrs: Mapping,
    dims: Sequence[int],
    reaches: Sequence[int],
    strides: Sequence[int],
    out: Sequence[int],
) -> list[int]:
    """Return the pads before the first element of each spatial dim.

    Args:
        op_type: the operator.
        attrs: its attributes.
        dims: spatial dims of the input.
        reaches: distance from the first to the last tap of a window, for each dim.
        strides: strides of the windows.
        out: spatial dims of the output.
    """
    auto, rank = attrs.get("auto_pad", b"NOTSET"), len(dims)
    if not auto.startswith(b"SAME") and "output_shape" not in attrs:
        return list(attrs.get("pads", [0] * rank)[:rank]) if auto != b"VALID" else [0] * rank
    if op_type == "ConvTranspose":
        extra = attrs.get("output_padding", [0] * rank)
        wholes = zip(dims, strides, reaches, extra, out, strict=True)
        totals = [(d - 1) * s + r + 1 + e - o for d, s, r, e, o in wholes]
    else:
        wholes = zip(out, strides, reaches, dims, strict=True)
        totals = [(o - 1) * s + r + 1 - d for o, s, r, d in wholes]
    rounding = 0 if auto == b"SAME_UPPER" else 1
    return [(max(total, 0) + rounding) // 2 for total in totals]


def _spread(x, strides):
    """Insert zeros between the elements of the spatial dims."""
    dims = [(d - 1) * s + 1 for d, s in zip(x.shape[2:], strides, strict=True)]
    result = np.zeros((*x.shape[:2], *dims))
    result[(..., *(slice(None, None, s) for s in strides))] = x
    return result


def _padded(x, axis, pad, length):
    """Return elements -pad to length - pad - 1 of an axis, with zeros outside of x."""
    moved = np.moveaxis(x, axis, -1)[..., max(-pad, 0) :]
    moved = np.concatenate([np.zeros((*moved.shape[:-1], max(pad, 0))), moved], axis=-1)
    moved = moved[..., :length]
    widths = [(0, 0)] * (x.ndim - 1) + [(0, length - moved.shape[-1])]
    return np.moveaxis(np.pad(moved, widths), -1, axis)
