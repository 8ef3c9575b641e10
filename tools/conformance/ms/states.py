"""Cases of operators that carry a state between calls: linear attention, causal convolution."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes, trimmed


@makes("LinearAttention")
def linear_attention(draw):
    """Vary update rules, numbers of heads, and states."""
    for c in draw.each(
        48,
        update_rule=[None, "linear", "gated", "delta", "gated_delta"],
        heads=[(1, 1), (2, 2), (4, 2), (6, 2), (2, 4), (1, 3)],
        tokens=[1, 2, 5],
        past=[True, False],
        by_key=[True, False],
        one_beta=[True, False],
        scale=[None, 0.0, 0.7],
        state_window=[None, 0],
        chunk_size=[None, 2],
    ):
        batch, size, depth = (draw.size(1, n) for n in (2, 4, 5))
        of_q, heads = c.heads
        rule = c.update_rule or "gated_delta"
        decay = beta = None
        if rule.startswith("gated"):
            n = heads * size if c.by_key else heads
            decay = -np.abs(draw.floats((batch, c.tokens, n)))
        if rule.endswith("delta"):
            beta = draw.rng.uniform(0, 1, (batch, c.tokens, 1 if c.one_beta else heads))
            beta = beta.astype(np.float32)
        key = draw.floats((batch, c.tokens, heads, size))
        key = (key / np.linalg.norm(key, axis=-1, keepdims=True)).reshape(batch, c.tokens, -1)
        state = (batch, heads, size, depth)
        inputs = [
            draw.floats((batch, c.tokens, of_q * size)),
            key,
            draw.floats((batch, c.tokens, heads * depth)),
            draw.floats(state) if c.past else None,
            decay,
            beta,
        ]
        trimmed(inputs)
        names = ("update_rule", "scale", "state_window", "chunk_size")
        attributes = {"q_num_heads": of_q, "kv_num_heads": heads, **c.attributes(*names)}
        yield Spec(inputs, attributes, (), (True, True))


@makes("CausalConvWithState")
def causal_conv(draw):
    """Vary layouts, with and without a past."""
    for c in draw.each(
        48,
        channels_last=[None, 0, 1],
        axes=[1, 1, 2],
        activation=[None, "none", "silu", "swish"],
        dilation=[None, 1, 2],
        state_window=[None, 0],
        bias=[True, False],
        past=[True, False],
        kernel=[1, 2, 4],
        fixed=[True, False],
        ndim=[None, 1],
    ):
        batch, channels, length = (draw.size(1, n) for n in (3, 4, 6))
        reach = (c.kernel - 1) * (c.dilation or 1)
        split = (2,) if c.channels_last and c.axes == 2 else ()
        total = channels * (2 if split else 1)
        shape, state = (batch, total, length), (batch, total, reach)
        if c.channels_last:
            shape, state = ((batch, n, *split, channels) for n in (length, reach))
        inputs = [
            draw.floats(shape),
            draw.floats((total, 1, c.kernel)),
            draw.floats((total,)) if c.bias else None,
            draw.floats(state) if c.past else None,
        ]
        trimmed(inputs)
        names = ("activation", "dilation", "state_window", "ndim", "channels_last")
        attributes = c.attributes(*names)
        fixed = [i for i in (1, 2) if i < len(inputs) and inputs[i] is not None]
        yield Spec(inputs, attributes, fixed if c.fixed else (), (True, True))
