"""Lower mpconnxr:QLinearConvTranspose, which rewrites make, to kernels qconv and move.

As with floats (conv_transpose.py), the outputs of a phase are a convolution of the input. Phases
that read the same elements are computed together, with a multiple of the channels. Their results
are then moved to their positions, unless there is only one phase.
"""

from __future__ import annotations

import itertools

import numpy as np

from ..errors import Problem
from . import OWN, lowers
from ._microsoft import as_onnx
from ._move import emit_move, strides_of
from ._qdot import emit_requantized, product_scales
from ._qweights import Geometry, Weights, scalar, shift_of, unsigned
from ._requantize import range_of
from .conv_transpose import dims_of, lower_conv_transpose, phases_of
from .ms_qlinear import as_float_input, dequantized, lower_by_floats


def _infer(node):
    tensors = [as_float_input(t) for t in (node.inputs[0], node.inputs[3])]
    [(_, shape)] = as_onnx(node, "ConvTranspose", tensors, 11)
    return [(node.inputs[7].dtype, shape)]


@lowers("QLinearConvTranspose", domain=OWN, infer=_infer)
def lower_qlinear_conv_transpose(node):
    """Lower to integers, unless a sum may exceed 32 bits or a scale is unusable."""
    _, *of_x, w, w_scale, w_zero, y_scale, y_zero, b = node.inputs
    known = [scalar(t) for t in (*of_x, w_zero, y_scale, y_zero)]
    if any(v is None for v in known) or any(t.data is None for t in (w, w_scale, b)):
        raise Problem("scales, zero points or weights that are not constant")
    product = _Product(node, *known)
    if product.fits():
        product.emit()
    else:
        _by_floats(node)


def _by_floats(node):
    _, _, _, w, w_scale, w_zero, _, _, b = node.inputs
    scale = w_scale.data.reshape(-1, *[1] * (len(w.shape) - 2))
    real = (w.data.astype(np.int32) - scalar(w_zero)).astype(np.float32) * scale
    inputs = [dequantized(node, 0), node.constant(real), b]
    lower_by_floats(node, lower_conv_transpose, inputs, 6)


class _Product:
    """The integer product of a node: its weights, biases and scales by output channel."""

    def __init__(self, node, x_scale, x_zero, w_zero, y_scale, y_zero):
        self.node, self.zeros = node, (x_zero, y_zero)
        self.x, w, self.out = node.inputs[0], node.inputs[3], node.outputs[0]
        self.groups = node.attr("group", 1)
        self.dims = dims_of(node, self.x, w, self.out)[1:]
        kernel = [d.kernel for d in self.dims]
        self.w = unsigned(w.data).reshape(self.groups, -1, w.shape[1], *kernel)
        self.w_zero = w_zero + shift_of(w)
        channels = self.groups * w.shape[1]
        w_scales = np.resize(node.inputs[4].data.reshape(-1), channels)
        exact = np.float64(x_scale) * w_scales.astype(np.float64)
        self.bias = np.rint(node.inputs[8].data.astype(np.float64) / exact).astype(np.int64)
        self.scales = product_scales(x_scale, w_scales, y_scale)

    def fits(self) -> bool:
        """Return True if no sum of all weights, and so none of a phase, is too large."""
        if self.scales is None:
            return False
        rows = self._rows([range(d.kernel) for d in self.dims])
        absolute = np.where(rows < self.w_zero, 2 * self.w_zero - rows.astype(np.int64), rows)
        x_zero = self.zeros[0] + shift_of(self.x)
        biases = np.abs(self.bias), -np.abs(self.bias)
        return all(Weights(absolute, self.w_zero, b).fits(x_zero) for b in biases)

    def _rows(self, taps):
        """Return a row of weights for each channel, with these taps only."""
        picked = self.w[:, :, :, taps[0]][:, :, :, :, taps[1]].swapaxes(1, 2)
        return picked.reshape(picked.shape[0] * picked.shape[1], -1)

    def emit(self) -> None:
        """Emit the steps of all phases."""
        by_input: dict[tuple, list] = {}
        for pair in itertools.product(*map(phases_of, self.dims)):
            geometry = tuple((p.count, len(p.taps), p.pad, p.dilation) for p in pair)
            by_input.setdefault(geometry, []).append(pair)
        for phases in by_input.values():
            if all(p.taps for p in phases[0]):
                self._emit_alike(phases)
            else:
                self._emit_bias(phases)

    def _emit_alike(self, phases):
        """Emit one convolution for phases; channels are ordered by group, phase and channel."""
        first, n = phases[0], self.x.shape[0]
        m, counts = self.w.shape[2], [p.count for p in first]
        shape = (n, self.groups, len(phases), m, *counts)
        is_all = counts == [d.d_out for d in self.dims]
        y = self.out if is_all else self.node.temp(self.out.dtype, shape)
        by_phase = [self._rows([p.taps for p in pair]) for pair in phases]
        rows = np.stack([r.reshape(self.groups, m, -1) for r in by_phase], 1)
        both = self.bias, np.array(self.scales)
        bias, scales = (self._repeated(v, len(phases)) for v in both)
        weights = Weights(rows.reshape(len(bias), -1), self.w_zero, bias)
        geometry = self._geometry(first, m * len(phases))
        x_zero, y_zero = self.zeros
        emit_requantized(self.node, self.x, weights, geometry, x_zero, scales, y, y_zero)
        for i, pair in enumerate([] if is_all else phases):
            self._move(y, strides_of(shape), i * m * counts[0] * counts[1], pair)

    def _repeated(self, by_channel, n):
        by_group = by_channel.reshape(self.groups, 1, -1)
        return np.repeat(by_group, n, 1).reshape(-1)

    def _geometry(self, phases, m):
        c, (h, width) = self.w.shape[1], [d.d_in for d in self.dims]
        kernel, out = [len(p.taps) for p in phases], [p.count for p in phases]
        n, g, positions = self.x.shape[0], self.groups, out[0] * out[1]
        return Geometry(
            [n, g, c, h, width, m, *kernel, *out],
            [g * c * h * width, c * h * width, h * width, width, 1],
            [g * m * positions, m * positions, positions, 1],
            dilations=[p.dilation for p in phases],
            pads=[p.pad for p in phases],
        )

    def _move(self, y, strides, first, phases):
        """Emit a move of one phase from a temporary to its elements of the output.

        Args:
            y: the temporary, by (batch, group, phase, channel, y, x).
            strides: its strides.
            first: index of the phase's first element in it.
            phases: the Phase of each spatial dim.
        """
        n, m = self.x.shape[0], self.w.shape[2]
        sizes = [d.d_out for d in self.dims]
        whole = strides_of((n, self.groups, m, *sizes))
        steps = [d.stride * s for d, s in zip(self.dims, whole[3:], strict=True)]
        start = sum(p.first * s for p, s in zip(phases, whole[3:], strict=True))
        dims = (n, self.groups, m, *(p.count for p in phases))
        x_strides = [*strides[:2], *strides[3:]]
        emit = self.node.emit
        emit_move(emit, y, self.out, dims, x_strides, [*whole[:3], *steps], first, start)

    def _emit_bias(self, phases):
        """Emit the outputs that no tap reaches."""
        low, high = range_of(self.out.dtype)
        both = zip(self.bias.tolist(), self.scales, strict=True)
        levels = [min(max(round(b * s) + self.zeros[1], low), high) for b, s in both]
        values = self.node.constant(np.array(levels, self.out.np_dtype))
        for pair in phases:
            self._move(values, [0, self.w.shape[2], 0, 1, 0, 0], 0, pair)
