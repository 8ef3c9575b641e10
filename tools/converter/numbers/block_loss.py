"""What block floating point loses of a node's sums that float32 would keep.

Sums are computed in float64 of the values that a run has: of these as they are, and of these as a
board's mantissas hold them. Errors of a few units in the last place of all that is summed are
those of float32: what adds up in floats has them, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from onnx import NodeProto, helper

from .finer import WHOLE, Form
from .narrow import rounded_weights

OWN = 2.0**-21  # of the sum of the products' sizes: 8 units of float32, and not the blocks'
_BITS = 23  # of a mantissa without its sign
_AGREED = 1e-3  # of the largest value: what float64 may differ by from float32


class Unlike(Exception):
    """The sums here are not those of onnxruntime."""


class Loss:
    """Of a node in a form, with these values by name. error: of its sums, 0 where float32 has it.

    Raises Unlike, or what numpy raises of attributes that are not for this node.
    """

    def __init__(
        self,
        node: NodeProto,
        values: Mapping[str, np.ndarray],
        is_known: bool,
        form: Form = WHOLE,
    ):
        self.attrs = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.node, y = node, np.float64(values[node.output[0]])
        x, w = (np.float64(values[name]) for name in node.input[:2])
        held, held_w = self._held(*form.operands(node, x, w), is_known, form)
        exact = self._product(x, w, y.shape)
        difference = self._product(held, held_w, y.shape) - exact
        sizes = self._product(np.abs(x), np.abs(w), y.shape, abs)
        self.error = np.where(np.abs(difference) > OWN * sizes, difference, 0.0)
        self._own = OWN * sizes
        self._sums = exact + self._added(values)
        found = self._activated(self._sums)
        if not np.abs(found - y).max(initial=0.0) <= _AGREED * np.abs(y).max(initial=0.0):
            raise Unlike

    def _held(self, x, w, is_known, form):
        """What mantissas hold of the operands."""
        held = sum(in_blocks(part, axes_of_values(self.node, x.ndim)) for part in form.parts(x))
        if is_known:
            return held, rounded_weights(self.node, w, in_blocks)
        return held, in_blocks(w, inner(self.node, "B"))

    def own(self, seed: int) -> np.ndarray:
        """An error of its sums as float32 has, of any signs."""
        return self._own * np.random.default_rng(seed).choice([-1.0, 1.0], self._own.shape)

    def of_output(self, error: np.ndarray) -> np.ndarray:
        """What an error of the sums makes of the node's output."""
        changed = self._activated(self._sums + error)
        return (changed - self._activated(self._sums)).astype(np.float32)

    def _product(self, x, w, shape, sign=float):
        if "Conv" in self.node.op_type:
            return _convolution(self.node.op_type, self.attrs, x, w, shape)
        if self.attrs.get("transBatchA") or self.attrs.get("transBatchB"):
            raise Unlike
        a = x.swapaxes(-1, -2) if self.attrs.get("transA") else x
        b = w.swapaxes(-1, -2) if self.attrs.get("transB") else w
        return sign(self.attrs.get("alpha", 1.0)) * (a @ b)

    def _added(self, values):
        """The bias, and what FusedConv adds."""
        more = [np.float64(values[name]) if name else 0.0 for name in self.node.input[2:4]]
        if more and "Conv" in self.node.op_type and np.ndim(more[0]):
            more[0] = more[0].reshape(-1, *[1] * (self._rank(values) - 2))
        elif more:
            more[0] = self.attrs.get("beta", 1.0) * more[0]
        return sum(more)

    def _rank(self, values):
        return values[self.node.output[0]].ndim

    def _activated(self, sums):
        kind = self.attrs.get("activation", b"").decode()
        names = ("activation_alpha", "activation_beta")
        given = [self.attrs[name] for name in names if name in self.attrs]
        given = self.attrs.get("activation_params", given)
        if kind not in _ACTIVATIONS:
            raise Unlike
        return _ACTIVATIONS[kind](sums, *given)


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
    """What mantissas hold of values that share an exponent along these axes."""
    largest = np.abs(values).max(axes, keepdims=True, initial=0.0)
    unit = np.ldexp(1.0, np.maximum(np.frexp(largest)[1], -125) - _BITS)
    whole = np.minimum(np.floor(np.abs(values) / unit + 0.5), (1 << _BITS) - 1)
    return np.copysign(whole * unit, values)


def axes_of_values(node: NodeProto, rank: int) -> tuple[int, ...]:
    """The axes along which values of a node's first input share an exponent."""
    return tuple(range(1, rank)) if "Conv" in node.op_type else (inner(node, "A"),)


def inner(node: NodeProto, side: str) -> int:
    """The axis along which the products of an operand, A or B, are summed."""
    swapped = any(a.name == f"trans{side}" and a.i for a in node.attribute)
    return -2 if swapped == (side == "A") else -1


def _convolution(op_type, attrs, x, w, shape):
    """Conv and ConvTranspose, of any number of spatial dims, without a bias."""
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
        x = _placed(x, 2 + axis, pads[axis], length)
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
    """Those before the first item of each dim."""
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
    less = [max(total, 0) // 2 for total in totals]
    more = [max(total, 0) - half for total, half in zip(totals, less, strict=True)]
    return less if auto == b"SAME_UPPER" else more


def _spread(x, strides):
    """Zeros between the items of the spatial dims."""
    dims = [(d - 1) * s + 1 for d, s in zip(x.shape[2:], strides, strict=True)]
    found = np.zeros((*x.shape[:2], *dims))
    found[(..., *(slice(None, None, s) for s in strides))] = x
    return found


def _placed(x, axis, pad, length):
    """So many items of an axis from -pad on, zero where there are none."""
    moved = np.moveaxis(x, axis, -1)[..., max(-pad, 0) :]
    moved = np.concatenate([np.zeros((*moved.shape[:-1], max(pad, 0))), moved], axis=-1)
    moved = moved[..., :length]
    widths = [(0, 0)] * (x.ndim - 1) + [(0, length - moved.shape[-1])]
    return np.moveaxis(np.pad(moved, widths), -1, axis)
