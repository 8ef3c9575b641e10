"""Expand DecoderMaskedMultiHeadAttention: one token attends to a buffer that its key joins."""

from __future__ import annotations

import numpy as np

from ...errors import Problem
from .attention import join_heads, padding, products, split_heads, weighted
from .building import Body, expands

_LOWEST = np.finfo(np.float32).min


@expands(
    "DecoderMaskedMultiHeadAttention",
    inputs="query key value mask_index attention_bias past_key past_value past_sequence_length "
    "beam_width cache_indirection bias",
    outputs="output present_key present_value qk",
)
def decoder_attention(b: Body):
    """Expand self attention with a shared buffer, or cross attention to keys with heads."""
    if not b.has("key") or not b.has("value"):
        raise Problem("packed inputs are not supported")
    if b.rank("key") == 4:
        return _cross(b)
    if not b.attr("past_present_share_buffer") or not b.has("past_key"):
        raise Problem("it needs a buffer of past keys (past_present_share_buffer)")
    heads, hidden = b.attr("num_heads"), b.extent("query", 2)
    q, k, v = (split_heads(b, x, heads) for x in _with_bias(b, ("query", "key", "value")))
    count, capacity = _count(b), b.extent("past_key", 2)
    positions = np.arange(capacity)
    if count is not None:
        is_new = b.const((positions == count - 1)[:, None])
    else:
        last = b.reshape("past_sequence_length", 1)
        is_new = b.unsqueeze(b.add("Equal", b.const(positions, np.int32), last), 1)
    present = [
        b.add("Where", is_new, new, past) for new, past in ((k, "past_key"), (v, "past_value"))
    ]
    used = present
    if b.has("cache_indirection"):
        rows = _rows(b)
        used = [
            b.add("Where", is_new, new, b.add("GatherElements", past, rows, axis=0))
            for new, past in ((k, "past_key"), (v, "past_value"))
        ]
    if count is not None:
        used = [b.slice(x, 0, count, 2) for x in used]
    scores = products(b, q, used[0], hidden // heads)
    if b.has("mask_index"):
        scores = b.add("Add", scores, padding(b, "mask_index", lambda: count))
    if b.has("attention_bias"):
        scores = b.add("Add", scores, _bias(b))
    if count is None:
        counts = b.add("LessOrEqual", b.const(positions, np.int32), last)
        scores = b.add("Where", counts, scores, b.const(_LOWEST))
    qk = "" if count is None else scores
    return [join_heads(b, weighted(b, scores, used[1])), *present, qk]


def _with_bias(b, names):
    if not b.has("bias"):
        return list(names)
    sizes = [b.extent("query", 2), *(b.extent(n, -1) for n in ("key", "value"))]
    parts = b.split("bias", sizes, 0)
    return [b.add("Add", x, part) for x, part in zip(names, parts, strict=True)]


def _count(b):
    """Return the number of keys with the new one, None if only a run knows."""
    if b.has("mask_index") and b.rank("mask_index") > 1:
        return b.extent("mask_index", -1)
    if b.has("attention_bias"):
        return b.extent("attention_bias", 3)
    past = b.known("past_sequence_length")
    return None if past is None else int(past.item()) + 1


def _bias(b):
    """Return attention_bias; all beams of a sequence use the sequence's row."""
    rows = b.extent("attention_bias", 0)
    beams = b.extent("cache_indirection", 1) if b.has("cache_indirection") else 1
    if beams == 1 or rows == 1:
        return "attention_bias"
    return b.add("Gather", "attention_bias", b.const(np.arange(rows) // beams, np.int64), axis=0)


def _rows(b):
    """Return, for each position of the buffer, the row of the batch that its key comes from."""
    batch, heads, capacity, head = b.shape("past_key")
    sequences, beams, most = b.shape("cache_indirection")
    if sequences * beams != batch:
        raise Problem(f"{beams} beams of {sequences} sequences in a batch of {batch}")
    first = np.repeat(np.arange(sequences) * beams, beams)[:, None]
    rows = b.add("Add", b.reshape("cache_indirection", batch, most), b.const(first, np.int32))
    if most > capacity:
        rows = b.slice(rows, 0, capacity, 1)
    elif most < capacity:
        raise Problem(f"cache_indirection for {most} of {capacity} keys")
    rows = b.reshape(rows, batch, 1, capacity, 1)
    return b.add("Expand", rows, b.ints(batch, heads, capacity, head))


def _cross(b):
    """Expand cross attention, whose keys and values have heads already."""
    if b.has("attention_bias"):
        raise Problem("attention_bias of another sequence's keys is not supported")
    heads, hidden = b.attr("num_heads"), b.extent("query", 2)
    q = "query"
    if b.has("bias"):
        q = b.add("Add", q, b.slice("bias", 0, hidden, 0))
    scores = products(b, split_heads(b, q, heads), "key", hidden // heads)
    if b.has("mask_index"):
        scores = b.add("Add", scores, padding(b, "mask_index", lambda: b.extent("key", 2)))
    return [join_heads(b, weighted(b, scores, "value")), "", "", scores]
