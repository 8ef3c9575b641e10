"""MultiHeadAttention, Attention: without padding masks, past values or present outputs."""

from __future__ import annotations

import math

from onnx import TensorProto, helper

from ...errors import Problem
from .building import Body, expands

_LIMIT = "padding masks, past values, present outputs and packed inputs are not supported"


@expands(
    "MultiHeadAttention",
    inputs="query key value bias key_padding_mask attention_bias past_key past_value",
)
def multi_head_attention(b: Body):
    """Of three tensors."""
    if not b.has("key") or not b.has("value") or _is_refused(b, "key_padding_mask", "past_key"):
        raise Problem(_LIMIT)
    q, k, v = "query", "key", "value"
    if b.has("bias"):
        sizes = b.extent("query", -1), b.extent("key", -1), b.extent("value", -1)
        parts = b.add("Split", "bias", b.ints(*sizes), axis=0, n=3)
        q, k, v = (b.add("Add", x, part) for x, part in zip((q, k, v), parts, strict=True))
    return _attention(b, q, k, v, b.extent("query", -1))


@expands("Attention", inputs="input weights bias mask_index past attention_bias")
def self_attention(b: Body):
    """Of one tensor."""
    if _is_refused(b, "mask_index", "past") or b.attributes.get("do_rotary"):
        raise Problem(_LIMIT)
    joined = b.add("MatMul", "input", "weights")
    if b.has("bias"):
        joined = b.add("Add", joined, "bias")
    total = b.extent("weights", -1)
    sizes = b.attributes.get("qkv_hidden_sizes") or [total // 3] * 3
    q, k, v = b.add("Split", joined, b.ints(*sizes), axis=2, n=3)
    return _attention(b, q, k, v, sizes[0])


def _is_refused(b, *names):
    """Inputs and outputs that exporters leave out of a plain attention."""
    return any(map(b.has, names)) or any(b.node.output[1:])


def _attention(b, q, k, v, hidden):
    heads = b.attributes["num_heads"]
    scale = b.attributes.get("scale") or 1 / math.sqrt(hidden / heads)
    shape = b.ints(0, 0, heads, -1)
    q, k, v = (
        b.add("Transpose", b.add("Reshape", x, shape), perm=perm)
        for x, perm in ((q, [0, 2, 1, 3]), (k, [0, 2, 3, 1]), (v, [0, 2, 1, 3]))
    )
    scores = b.add("Mul", b.add("MatMul", q, k), b.add("Constant", value_float=scale))
    if b.has("attention_bias"):
        scores = b.add("Add", scores, "attention_bias")
    if b.attributes.get("unidirectional"):
        scores = _causal(b, scores)
    y = b.add("MatMul", b.add("Softmax", scores, axis=-1), v)
    y = b.add("Transpose", y, perm=[0, 2, 1, 3])
    return b.add("Reshape", y, b.ints(0, 0, -1))


def _causal(b, scores):
    """-inf above the diagonal: an item sees itself and those before."""
    n = b.extent("query" if "query" in b.formal else "input", 1)
    above = [float("-inf") if j > i else 0.0 for i in range(n) for j in range(n)]
    mask = helper.make_tensor("above", TensorProto.FLOAT, [n, n], above)
    return b.add("Add", scores, b.add("Constant", value=mask))
