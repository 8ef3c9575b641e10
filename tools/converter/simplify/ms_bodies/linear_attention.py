"""Expand LinearAttention: each token updates a state (batch, heads, d_k, d_v) and reads it.

One token becomes plain nodes, several a Scan of them.
"""

from __future__ import annotations

import math

import numpy as np
from onnx import TensorProto, helper

from ...errors import Problem
from .building import Body, expands

_RULES = ("linear", "gated", "delta", "gated_delta")


@expands(
    "LinearAttention",
    inputs="query key value past_state decay beta",
    outputs="output present_state",
)
def linear_attention(b: Body):
    """Expand LinearAttention with any of its update rules."""
    rule = b.attr("update_rule", "gated_delta")
    if rule not in _RULES:
        raise Problem(f"update_rule {rule}")
    if b.attr("state_window"):
        raise Problem("state_window is not supported")
    batch, tokens, width = b.shape("query")
    of_q, heads = b.attr("q_num_heads"), b.attr("kv_num_heads")
    size, depth = width // of_q, b.extent("value", 2) // heads
    if max(of_q, heads) % min(of_q, heads):
        raise Problem(f"{of_q} heads of queries for {heads} of keys")
    scale = b.attr("scale") or 1 / math.sqrt(size)
    # Each token has queries as rows, keys as columns, values as rows.
    by_head = max(of_q // heads, 1)
    parts = {
        "q": _tokens(b, b.add("Mul", "query", b.const(scale)), [batch, tokens, -1, by_head, size]),
        "k": _tokens(b, "key", [batch, tokens, -1, size, 1]),
        "v": _tokens(b, "value", [batch, tokens, heads, 1, depth]),
    }
    # With fewer heads of queries than of keys, each of the former serves several of the latter.
    for name, own in (("q", of_q), ("k", b.extent("key", 2) // size)):
        if own < heads:
            parts[name] = _repeated(b, parts[name], own, heads // own)
    if rule.startswith("gated"):
        per_key = b.extent("decay", 2) != heads
        shape = [batch, tokens, heads, size if per_key else 1, 1]
        parts["decay"] = _tokens(b, b.add("Exp", "decay"), shape)
    if rule.endswith("delta"):
        parts["beta"] = _tokens(b, "beta", [batch, tokens, b.extent("beta", 2), 1, 1])
    if b.has("past_state"):
        state = "past_state"
    else:
        state = b.const(np.zeros((batch, heads, size, depth)), np.float32)
    y, last = _run(b, parts, state, tokens)
    # (tokens, batch, heads, by_head, d_v)
    y = b.reshape(b.transpose(y, 1, 0, 2, 3, 4), batch, tokens, heads * by_head * depth)
    return [y, last]


def _tokens(b, x, shape):
    """Reshape x to this shape and move the axis of tokens to the front."""
    axes = [1, 0, *range(2, len(shape))]
    return b.transpose(b.reshape(x, *shape), *axes)


def _repeated(b, x, heads, times):
    """Repeat each head of x (tokens, batch, heads, a, b) `times` times in a row."""
    return b.add("Gather", x, b.const(np.repeat(np.arange(heads), times), np.int64), axis=2)


def _step(add, state, parts):
    """Return a token's output and the state after it.

    Args:
        add: adds a node and returns its output.
        state: before the token.
        parts: values of the token by name: q, k, v, and maybe decay and beta.
    """
    if "decay" in parts:
        state = add("Mul", parts["decay"], state)
    new = parts["v"]
    if "beta" in parts:
        turned = add("Transpose", parts["k"], perm=[0, 1, 3, 2])
        new = add("Mul", parts["beta"], add("Sub", new, add("MatMul", turned, state)))
    state = add("Add", state, add("MatMul", parts["k"], new))
    return add("MatMul", parts["q"], state), state


def _run(b, parts, state, tokens):
    """Return the outputs of all tokens and the last state, by a Scan for more than one token.

    Args:
        b: the Body.
        parts: the tokens' values by name.
        state: the state before the first token.
        tokens: number of tokens.
    """
    if tokens == 1:
        y, last = _step(b.add, state, {name: b.squeeze(x, 0) for name, x in parts.items()})
        return b.unsqueeze(y, 0), last
    nodes = []

    def add(op, *inputs, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"s{len(nodes)}"], **attributes))
        return nodes[-1].output[0]

    y, after = _step(add, "state", {name: f"{name}_t" for name in parts})
    inner = ["state", *(f"{name}_t" for name in parts)]
    infos = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names]
        for names in (inner, [after, y])
    ]
    body = helper.make_graph(nodes, "token", *infos)
    last, y = b.add("Scan", state, *parts.values(), n=2, body=body, num_scan_inputs=len(parts))
    return y, last
