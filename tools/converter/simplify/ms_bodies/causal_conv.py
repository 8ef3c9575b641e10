"""Expand CausalConvWithState: a depthwise convolution of the past and the new elements."""

from __future__ import annotations

import numpy as np

from ...errors import Problem
from .building import Body, expands


@expands(
    "CausalConvWithState",
    inputs="input weight bias past_state",
    outputs="output present_state",
)
def causal_conv(b: Body):
    """Expand the convolution of one dimension, channels first or last."""
    if b.attr("ndim", 1) != 1 or b.attr("state_window"):
        raise Problem("more dimensions than one and state_window are not supported")
    activation = b.attr("activation", "none")
    if activation not in ("none", "silu", "swish"):
        raise Problem(f"activation {activation}")
    channels, _, kernel = b.shape("weight")
    dilation = b.attr("dilation", 1)
    reach = (kernel - 1) * dilation
    shape = b.shape("input")
    is_last = b.attr("channels_last")
    length = shape[1 if is_last else 2]
    x = _channels_first(b, "input", shape[0], length, channels) if is_last else "input"
    if reach:
        if not b.has("past_state"):
            past = b.const(np.zeros((shape[0], channels, reach)), np.float32)
        else:
            past = "past_state"
            past = _channels_first(b, past, shape[0], reach, channels) if is_last else past
        x = b.concat([past, x], 2)
    present = b.slice(x, length, length + reach, 2)
    y = b.add("Conv", x, "weight", b.optional("bias"), group=channels, dilations=[dilation])
    if activation != "none":
        y = b.add("Mul", y, b.add("Sigmoid", y))
    if not is_last:
        return [y, present]
    y = b.reshape(b.transpose(y, 0, 2, 1), *shape)
    if reach:
        present = b.reshape(b.transpose(present, 0, 2, 1), shape[0], reach, *shape[2:])
    else:
        present = b.const(np.zeros((shape[0], 0, *shape[2:])), np.float32)
    return [y, present]


def _channels_first(b, x, batch, length, channels):
    """Reshape (batch, length, ...) to (batch, channels, length)."""
    return b.transpose(b.reshape(x, batch, length, channels), 0, 2, 1)
