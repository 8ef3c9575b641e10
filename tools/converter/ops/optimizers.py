"""Lower Momentum, Adagrad and Adam of ai.onnx.preview.training to kernel binary and others.

Inputs: learning rate R, number of updates T, then all X, all gradients G, and the states of each.
"""

from __future__ import annotations

import numpy as np

from ..ir import Tensor
from . import lowers
from ._dtypes import BOOL
from ._elementwise import binary, emit_binary, unary
from ._integer import as_dtype
from .select import emit_where

_TRAINING = "ai.onnx.preview.training"


class _Steps:
    """Arithmetic with tensors and numbers in the dtype of X. Each result is a new tensor."""

    def __init__(self, node):
        self.node = node
        self.rate, count = (node.reshaped(t, (1,)) for t in node.inputs[:2])
        self.dtype = node.inputs[2].dtype
        self.count = as_dtype(node, count, self.dtype)

    def __call__(self, op: str, a, b, out: Tensor | None = None, dtype=None) -> Tensor:
        a, b = (self._tensor(v) for v in (a, b))
        if out is None:
            return binary(self.node, op, a, b, dtype)
        emit_binary(self.node, op, a, b, out)
        return out

    def sqrt(self, x: Tensor) -> Tensor:
        return unary(self.node, "sqrt", x)

    def at_first(self, first, later) -> Tensor:
        """Return `first` at update 0, else `later`: a number or a tensor of one element."""
        has_started = self("greater", self.count, 0.0, dtype=BOOL)
        out = self.node.temp(self.dtype, (1,))
        emit_where(self.node, has_started, self._tensor(later), self._tensor(first), out)
        return out

    def regularized(self, x: Tensor, g: Tensor) -> Tensor:
        return self("add", self("mul", x, self.attr("norm_coefficient", 0.0)), g)

    def attr(self, name, default=None):
        return self.node.attr(name, default)

    def _tensor(self, value):
        if isinstance(value, Tensor):
            return value
        return self.node.constant(np.full(1, value, self.node.inputs[2].np_dtype))


def _groups(node, n_states):
    """Return (X, G, states, new X, new states) for each optimized tensor."""
    n = (len(node.inputs) - 2) // (2 + n_states)
    parts = [node.inputs[2 + k * n : 2 + (k + 1) * n] for k in range(2 + n_states)]
    outs = [node.outputs[k * n : (k + 1) * n] for k in range(1 + n_states)]
    return list(zip(*parts, *outs, strict=True))


@lowers("Momentum", domain=_TRAINING)
def lower_momentum(node):
    """Lower V' = alpha * V + beta * G with beta = 1 at first.

    X' = X - R * V', or with nesterov X - R * (G + alpha * V').
    """
    do = _Steps(node)
    beta = do.at_first(1.0, do.attr("beta"))
    for x, g, v, new_x, new_v in _groups(node, 1):
        g = do.regularized(x, g)
        step = do("add", do("mul", v, do.attr("alpha")), do("mul", g, beta), new_v)
        if do.attr("mode") == "nesterov":
            step = do("add", g, do("mul", step, do.attr("alpha")))
        do("sub", x, do("mul", step, do.rate), new_x)


@lowers("Adagrad", domain=_TRAINING)
def lower_adagrad(node):
    """Lower H' = H + G * G; X' = X - R / (1 + T * decay) * G / (sqrt(H') + epsilon)."""
    do = _Steps(node)
    decay = do("add", do("mul", do.count, do.attr("decay_factor", 0.0)), 1.0)
    rate = do("div", do.rate, decay)
    for x, g, h, new_x, new_h in _groups(node, 1):
        g = do.regularized(x, g)
        h = do("add", h, do("mul", g, g), new_h)
        scale = do("add", do.sqrt(h), do.attr("epsilon", 1e-6))
        do("sub", x, do("div", do("mul", g, rate), scale), new_x)


@lowers("Adam", domain=_TRAINING)
def lower_adam(node):
    """Lower X' = (X - R' * V' / (sqrt(H') + epsilon)) * (1 - norm_coefficient_post).

    R' is the rate corrected for the bias of the first updates.
    """
    do = _Steps(node)
    alpha, beta = do.attr("alpha", 0.9), do.attr("beta", 0.999)
    root = do.sqrt(do("sub", 1.0, do("pow", beta, do.count)))
    unbiased = do("div", do("mul", do.rate, root), do("sub", 1.0, do("pow", alpha, do.count)))
    rate = do.at_first(do.rate, unbiased)
    for x, g, v, h, new_x, new_v, new_h in _groups(node, 2):
        g = do.regularized(x, g)
        v = do("add", do("mul", v, alpha), do("mul", g, 1 - alpha), new_v)
        h = do("add", do("mul", h, beta), do("mul", do("mul", g, g), 1 - beta), new_h)
        scale = do("add", do.sqrt(h), do.attr("epsilon", 1e-6))
        moved = do("sub", x, do("div", do("mul", v, rate), scale))
        do("mul", moved, 1 - do.attr("norm_coefficient_post", 0.0), new_x)
