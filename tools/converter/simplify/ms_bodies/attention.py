"""Expand Attention and MultiHeadAttention, with masks, past keys and values, and biases.

A mask is added to the scaled products of queries and keys: 0, or mask_filter_value for keys that
are masked out. Unidirectional nodes add the lowest float for keys that come after the query, as
onnxruntime does.
"""

from __future__ import annotations

import math

import numpy as np

from ...errors import Problem
from .building import Body, expands

_LOWEST = np.finfo(np.float32).min
_FILTER = -10000.0


@expands(
    "Attention",
    inputs="input weights bias mask_index past attention_bias past_sequence_length",
    outputs="output present",
    oldest=11,
)
def attention(b: Body):
    """Expand Attention, whose input is multiplied by weights of queries, keys and values first."""
    joined = b.add("MatMul", "input", "weights")
    if b.has("bias"):
        joined = b.add("Add", joined, "bias")
    return attend_joined(b, joined, b.extent("weights", -1), "input")


def attend_joined(b: Body, joined: str, total: int, source: str) -> list[str]:
    """Return output and present of an attention.

    Args:
        b: the body.
        joined: queries, keys and values side by side, (batch, sequence, total).
        total: width of the three together.
        source: input whose axis 1 is the sequence.
    """
    if b.attr("do_rotary") or b.attr("past_present_share_buffer"):
        raise Problem("do_rotary and past_present_share_buffer are not supported")
    heads = b.attr("num_heads")
    sizes = b.attr("qkv_hidden_sizes") or [total // 3] * 3
    q, k, v = (split_heads(b, x, heads) for x in b.split(joined, sizes, 2))
    past = 0
    if b.has("past"):
        past = b.extent("past", 3)
        k, v = (
            b.concat([b.squeeze(old, 0), new], 2)
            for old, new in zip(b.split("past", [1, 1], 0), (k, v), strict=True)
        )
    present = ""
    if b.has_output(1):
        present = b.concat([b.unsqueeze(x, 0) for x in (k, v)], 0)
    scores = products(b, q, k, sizes[0] // heads)
    scores = masked(b, scores, "mask_index", lambda: past + b.extent(source, 1), past, source)
    return [join_heads(b, weighted(b, scores, v)), present]


@expands(
    "MultiHeadAttention",
    inputs="query key value bias key_padding_mask attention_bias past_key past_value "
    "past_sequence_length cache_indirection",
    outputs="output present_key present_value qk",
    oldest=11,
)
def multi_head_attention(b: Body):
    """Expand MultiHeadAttention of three tensors or packed ones; past keys have split heads."""
    if b.has("past_sequence_length") or b.has("cache_indirection"):
        raise Problem("past_sequence_length and cache_indirection are not supported")
    heads = b.attr("num_heads")
    values = _unpacked(b)
    is_split = b.has("value") and b.rank("key") == 4
    hidden = b.extent("query", -1)
    if b.rank("query") == 5:
        hidden *= heads
    if b.has("bias"):
        sizes = [hidden] * 3
        if b.has("value") and not is_split:
            sizes[1:] = b.extent("key", -1), b.extent("value", -1)
        parts = b.split("bias", sizes, 0)
        added = (0,) if is_split else (0, 1, 2)
        values = [b.add("Add", x, parts[i]) if i in added else x for i, x in enumerate(values)]
    q, k, v = (x if is_split and i else split_heads(b, x, heads) for i, x in enumerate(values))
    past = 0
    if b.has("past_key"):
        past = b.extent("past_key", 2)
        k, v = b.concat(["past_key", k], 2), b.concat(["past_value", v], 2)
    scores = products(b, q, k, hidden // heads)
    source, axis = ("key", 2 if is_split else 1) if b.has("key") else ("query", 1)
    scores = masked(
        b, scores, "key_padding_mask", lambda: past + b.extent(source, axis), past, "query"
    )
    # onnxruntime's qk are the products, though its page says that they are normalized
    return [join_heads(b, weighted(b, scores, v)), k, v, scores]


def _unpacked(b):
    """Return queries, keys and values, packed ones as (batch, sequence, hidden)."""
    if b.has("key") and b.has("value"):
        return ["query", "key", "value"]
    if b.has("key"):  # (batch, sequence, heads, 2, head)
        return ["query", *_parts(b, "key", 2)]
    return _parts(b, "query", 3)


def _parts(b, name, n):
    if b.has("value") or b.rank(name) != 5:
        raise Problem(f"{name} of {b.rank(name)} dimensions is not packed")
    return [b.reshape(b.squeeze(x, 3), 0, 0, -1) for x in b.split(name, [1] * n, 3)]


def split_heads(b: Body, x: str, heads: int) -> str:
    """Reshape (batch, sequence, heads * size) to (batch, heads, sequence, size)."""
    return b.transpose(b.reshape(x, 0, 0, heads, -1), 0, 2, 1, 3)


def join_heads(b: Body, x: str) -> str:
    """Reshape (batch, heads, sequence, size) to (batch, sequence, heads * size)."""
    return b.reshape(b.transpose(x, 0, 2, 1, 3), 0, 0, -1)


def products(b: Body, q: str, k: str, head: int) -> str:
    """Return the scaled products of queries and keys, (batch, heads, queries, keys)."""
    scale = b.attr("scale") or 1 / math.sqrt(head)
    scores = b.add("MatMul", q, b.transpose(k, 0, 1, 3, 2))
    return b.add("Mul", scores, b.const(scale))


def masked(b: Body, scores: str, name: str, total, past: int, source: str) -> str:
    """Return scores with the mask and attention_bias added.

    Args:
        b: the body.
        scores: products of queries and keys.
        name: input with the mask.
        total: function that returns the number of keys.
        past: number of past keys.
        source: input whose axis 1 are the queries.
    """
    mask = ""
    if b.has(name):
        mask = padding(b, name, total)
    if b.attr("unidirectional"):
        mask = causal(b, mask, b.extent(source, 1), total(), past)
    if mask:
        scores = b.add("Add", scores, mask)
    return b.add("Add", scores, "attention_bias") if b.has("attention_bias") else scores


def padding(b: Body, name: str, total) -> str:
    """Return a mask's summand of the scores: (batch, 1, 1 or queries, keys).

    Args:
        b: the Body.
        name: the mask.
        total: returns the number of keys.
    """
    rank = b.rank(name)
    if rank in (2, 3):
        counts = b.unsqueeze(b.add("Greater", name, b.const(0, np.int32)), *[1, 2][: 4 - rank])
    elif rank == 1:
        counts = _counted(b, name, total())
    else:
        raise Problem(f"{name} of {rank} dimensions is not supported")
    value = b.attr("mask_filter_value", _FILTER)
    return b.add("Where", counts, b.const(0.0), b.const(value))


def _counted(b, name, total):
    """Return True for each key that a mask of sequence ends, and maybe starts, includes."""
    batch = b.extent(b.formal[0], 0)
    positions = b.const(np.arange(total), np.int32)
    n_ends = b.extent(name, 0)
    if n_ends not in (batch, 2 * batch):
        raise Problem(f"{name} of {n_ends} elements for a batch of {batch} is not supported")
    ends, *starts = b.split(name, [batch] * (n_ends // batch), 0)
    counts = b.add("Less", positions, b.unsqueeze(ends, 1, 2, 3))
    for start in starts:
        low = b.at_least(positions, b.unsqueeze(start, 1, 2, 3))
        counts = b.add("And", counts, low)
    return counts


def causal(b: Body, mask: str, queries: int, total: int, past: int) -> str:
    """Return the mask with keys excluded that come after a query.

    Args:
        b: the Body.
        mask: the summand of the scores so far, or "".
        queries: number of queries.
        total: number of keys.
        past: number of keys before the first query.
    """
    after = np.arange(total) > past + np.arange(queries)[:, None]
    after[-1:] = False  # in onnxruntime the last query sees all keys, even in cross attention
    if not after.any():
        return mask
    if not mask:
        return b.const(np.where(after, _LOWEST, 0).astype(np.float32))
    return b.add("Where", b.const(after), b.const(_LOWEST), mask)


def weighted(b: Body, scores: str, v: str) -> str:
    """Return the values weighted by the softmax of scores."""
    return b.add("MatMul", b.add("Softmax", scores, axis=-1), v)


@expands(
    "QAttention",
    inputs="input weight bias input_scale weight_scale mask_index input_zero_point "
    "weight_zero_point past",
    outputs="output present",
    oldest=11,
)
def quantized_attention(b: Body):
    """Expand QAttention: Attention whose first product is of integers."""
    zeros = b.optional("input_zero_point"), b.optional("weight_zero_point")
    joined = b.cast(b.add("MatMulInteger", "input", "weight", *zeros))
    joined = b.add("Mul", joined, b.add("Mul", "input_scale", "weight_scale"))
    joined = b.add("Add", joined, "bias")
    return attend_joined(b, joined, b.extent("weight", -1), "input")
