"""Expand GroupQueryAttention and SparseAttention: several queries share a key.

Only a run knows where the past keys end (seqlens_k), except for a first prompt. New keys are put
behind them by Gather, zeros follow. Keys that a query must not see are masked by comparing
positions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands
from .rotary import rotated

_LOWEST = np.finfo(np.float32).min
_UNSUPPORTED = ("q_norm_weight", "k_norm_weight")


@dataclass
class _Sizes:
    """The sizes of one attention.

    Attributes:
        batch: sequences.
        tokens: new tokens of each sequence, and so queries.
        heads: heads of queries.
        groups: heads of keys and values.
        head: width of a head.
        past: number of positions in the past buffers.
        total: number of positions that queries may see.
    """

    batch: int
    tokens: int
    heads: int
    groups: int
    head: int
    past: int
    total: int

    @property
    def capacity(self) -> int:
        """Return the number of positions in present_key and present_value."""
        return max(self.total, self.past)

    @property
    def is_first(self) -> bool:
        """Return True for a first prompt, without past tokens."""
        return self.total == self.tokens


@expands(
    "GroupQueryAttention",
    inputs="query key value past_key past_value seqlens_k total_sequence_length cos_cache "
    "sin_cache position_ids attention_bias head_sink k_scale v_scale q_norm_weight k_norm_weight",
    outputs="output present_key present_value output_qk",
    fixes="total_sequence_length",
)
def group_query_attention(b: Body):
    """Expand attention to sequences that end at seqlens_k; past keys may be quantized."""
    for name in _UNSUPPORTED:
        if b.has(name):
            raise Problem(f"{name} is not supported")
    if b.attr("sliding_window_cache"):
        raise Problem("sliding_window_cache is not supported")
    if b.attr("local_window_size", -1) == 0:
        raise Problem("local_window_size of 0")
    inputs, s = _unpacked(b), _sizes(b)
    # the number of keys of each sequence, with the new ones, (batch, 1)
    ends = b.add("Add", b.reshape("seqlens_k", s.batch, 1), b.const(1, np.int32))
    q, k, v, start = _with_heads(b, inputs, ends, s)
    k, v = (b.transpose(x, 0, 2, 1, 3) for x in (k, v))
    caches = [_Cache(b, name) for name in ("k", "v")]
    keys, values = (c.present(new, start, s) for c, new in zip(caches, (k, v), strict=True))
    y, qk = _attend(b, b.transpose(q, 0, 2, 1, 3), keys, values, (start, ends), s)
    y = b.reshape(b.transpose(y, 0, 2, 1, 3), s.batch, s.tokens, s.heads * s.head)
    y, qk = (b.narrow(x, "query") if x else "" for x in (y, qk))
    return [y, *(c.stored for c in caches), qk]


class _Cache:
    """Past and present keys or values, float, int8, or 4-bit with two elements per byte.

    Attributes:
        stored: the node's output, once `present` has run.
        bits: bits of a stored element, 0 for floats.
    """

    def __init__(self, b: Body, letter: str):
        self.b, self.scale = b, f"{letter}_scale"
        self.past = "past_key" if letter == "k" else "past_value"
        self.stored = ""
        self.bits = 0
        if b.has("past_key") and b.dtype("past_key") != b.dtype("query"):
            self.bits = b.attr("kv_cache_bit_width", 0)
            expected = {8: TensorProto.INT8, 4: TensorProto.UINT8}.get(self.bits)
            kind = b.attr(f"{letter}_quant_type", "NONE")
            is_known = kind in ("PER_TENSOR", "PER_CHANNEL") and b.has(self.scale)
            if b.dtype(self.past) != expected or not is_known:
                raise Problem(f"{self.past} quantized in another way than by int8 or 4 bits")

    def present(self, new: str, start: str, s: _Sizes) -> str:
        """Return the present (batch, groups, capacity, head) as float32, and set `stored`."""
        b = self.b
        if not self.bits:
            result = _present(b, new, b.wide(self.past) if s.past else "", start, s)
            self.stored = b.narrow(result, "query")
            return result
        low, high = -(2.0 ** (self.bits - 1)), 2.0 ** (self.bits - 1) - 1
        new = b.add("Round", b.add("Div", new, self.scale))
        new = b.add("Clip", new, b.const(low), b.const(high))
        past, rest = b.cast(self.past), 0.0
        if self.bits == 4:
            past, rest = self._unpacked(past, s), low  # bytes of zero
        result = _present(b, new, past, start, s, rest)
        if self.bits == 8:
            self.stored = b.cast(result, TensorProto.INT8)
        else:
            self.stored = self._packed(result, s)
        return b.add("Mul", result, self.scale)

    def _unpacked(self, x, s):
        b = self.b
        high = b.add("Floor", b.add("Mul", x, b.const(1 / 16)))
        low = b.add("Sub", x, b.add("Mul", high, b.const(16)))
        both = b.concat([b.unsqueeze(part, 4) for part in (low, high)], 4)
        levels = b.reshape(both, s.batch, s.groups, s.past, s.head)
        return b.add("Sub", levels, b.const(8))

    def _packed(self, x, s):
        b = self.b
        levels = b.add("Add", x, b.const(8))
        pairs = b.reshape(levels, s.batch, s.groups, s.capacity, s.head // 2, 2)
        weighted = b.add("Mul", pairs, b.const([1, 16], np.float32))
        return b.cast(b.sum(weighted, 4, keepdims=0), TensorProto.UINT8)


def _with_heads(b, inputs, ends, s):
    """Split queries, keys and values into heads, and rotate queries and keys if do_rotary is set.

    Args:
        b: the Body.
        inputs: queries, keys and values.
        ends: number of keys after this run, for each sample.
        s: the sizes.

    Returns:
        Queries, keys and values (batch, tokens, heads or groups, head), and the position of the
        first token of each sample.
    """
    start = b.add("Sub", ends, b.const(s.tokens, np.int32))
    if s.is_first:
        start = b.const(np.zeros((s.batch, 1)), np.int32)
    q, k, v = (b.reshape(x, s.batch, s.tokens, -1, s.head) for x in inputs)
    if b.attr("do_rotary"):
        q, k = _rotated(b, q, k, start, s)
    return q, k, v, start


def _unpacked(b):
    """Return queries, keys and values as float32 (batch, tokens, width)."""
    if b.has("key") != b.has("value"):
        raise Problem("key and value must be given together")
    if b.has("key"):
        return [b.wide(name) for name in ("query", "key", "value")]
    heads, groups = b.attr("num_heads"), b.attr("kv_num_heads")
    head = b.extent("query", 2) // (heads + 2 * groups)
    return b.split(b.wide("query"), [n * head for n in (heads, groups, groups)], 2)


def _sizes(b):
    batch, tokens, width = b.shape("query")
    heads, groups = b.attr("num_heads"), b.attr("kv_num_heads")
    head = width // heads if b.has("key") else width // (heads + 2 * groups)
    if b.has("key") and b.extent("key", 1) != tokens:
        raise Problem("keys of another length than the queries")
    past = 0
    if b.has("past_key"):
        past = b.extent("past_key", 2)
    total = b.known("total_sequence_length")
    if total is None:
        raise Problem(
            "total_sequence_length is not known, which decides the shapes of present keys",
            "--bind total_sequence_length=N",
        )
    return _Sizes(batch, tokens, heads, groups, head, past, int(total.item()))


def _rotated(b, q, k, start, s):
    """Rotate queries and keys (batch, tokens, heads, head) by their positions.

    Args:
        b: the Body.
        q: the queries.
        k: the keys.
        start: position of the first token of each sample.
        s: the sizes.
    """
    steps = b.const(np.arange(s.tokens)[None], np.int64)
    if b.has("position_ids") and not s.is_first:
        positions = "position_ids"
    elif b.has("position_ids"):  # of a first prompt only the first position counts
        first = b.slice(b.reshape("position_ids", -1), 0, 1, 0)
        positions = b.add("Add", b.add("Expand", first, b.ints(s.batch, 1)), steps)
    else:
        positions = b.add("Add", b.cast(start, TensorProto.INT64), steps)
    rotations = [
        b.unsqueeze(b.add("Gather", b.wide(f"{name}_cache"), positions, axis=0), 2)
        for name in ("cos", "sin")
    ]
    half, is_interleaved = b.extent("cos_cache", 1), bool(b.attr("rotary_interleaved"))
    return [_rounded(b, rotated(b, x, rotations, half, s.head, is_interleaved)) for x in (q, k)]


def _rounded(b, x):
    """Round a float32 value to the dtype of the queries."""
    dtype = b.dtype("query")
    return x if dtype == TensorProto.FLOAT else b.cast(b.cast(x, dtype))


def _present(b, new, past, start, s, rest=0.0):
    """Return the past up to `start`, then the new elements: (batch, groups, capacity, head).

    Args:
        b: the Body.
        new: the new keys or values.
        past: name of the past ones.
        start: position of the first new token of each sample.
        s: the sizes.
        rest: number that fills the buffer behind the new elements.
    """
    if s.is_first:
        shape = (s.batch, s.groups, s.capacity - s.tokens, s.head)
        return b.concat([new, b.const(np.full(shape, rest), np.float32)], 2) if shape[2] else new
    if not s.past:
        raise Problem("later tokens need past keys")
    both = b.transpose(b.concat([past, new], 2), 0, 2, 1, 3)
    rows = s.past + s.tokens
    both = b.reshape(both, s.batch * rows, s.groups * s.head)
    positions = b.const(np.arange(s.capacity)[None], np.int32)
    after = b.add("Sub", positions, start)
    of_new = b.add("Add", after, b.const(s.past, np.int32))
    of_new = b.add("Min", of_new, b.const(rows - 1, np.int32))
    row = b.add("Where", b.add("Less", positions, start), positions, of_new)
    row = b.add("Add", row, b.const(np.arange(s.batch)[:, None] * rows, np.int32))
    result = b.reshape(b.add("Gather", both, row, axis=0), s.batch, s.capacity, s.groups, s.head)
    is_there = b.unsqueeze(b.add("Less", after, b.const(s.tokens, np.int32)), 2, 3)
    return b.transpose(b.add("Where", is_there, result, b.const(rest)), 0, 2, 1, 3)


def _attend(b, q, keys, values, bounds, s):
    """Return the output (batch, heads, tokens, head), and the scores or weights for qk_output.

    Args:
        b: the Body.
        q: the queries.
        keys: the keys.
        values: the values.
        bounds: position of the first token and number of keys, for each sample.
        s: the sizes.
    """
    by_group = s.heads // s.groups
    keys, values = (
        x if s.capacity == s.total else b.slice(x, 0, s.total, 2) for x in (keys, values)
    )
    scale = b.attr("scale") or 1 / math.sqrt(s.head)
    q = b.reshape(q, s.batch, s.groups, by_group * s.tokens, s.head)
    scores = b.add("Mul", b.add("MatMul", q, b.transpose(keys, 0, 1, 3, 2)), b.const(scale))
    scores = b.reshape(scores, s.batch, s.heads, s.tokens, s.total)
    cap = b.attr("softcap", 0.0)
    if cap:
        scores = b.add("Tanh", b.add("Mul", scores, b.const(1 / cap)))
        scores = b.add("Mul", scores, b.const(cap))
    if b.has("attention_bias"):
        scores = b.add("Add", scores, b.wide("attention_bias"))
    sees = _seen(b, bounds, s)
    masked = b.add("Where", sees, scores, b.const(_LOWEST))
    weights = _softmax(b, masked, s)
    y = b.reshape(weights, s.batch, s.groups, by_group * s.tokens, s.total)
    y = b.reshape(b.add("MatMul", y, values), s.batch, s.heads, s.tokens, s.head)
    kind = b.attr("qk_output", 0)
    qk = weights if kind == 2 else b.add("Where", sees, scores, b.const(0.0)) if kind else ""
    return y, qk


def _seen(b, bounds, s):
    """Return True for the keys that a query sees, (batch, 1, tokens, total)."""
    start, ends = (b.unsqueeze(x, 2, 3) for x in bounds)
    positions = b.const(np.arange(s.total), np.int32)
    sees = b.add("Less", positions, ends)
    if not b.attr("causal", 1):
        return sees
    own = b.add("Add", start, b.const(np.arange(s.tokens)[:, None], np.int32))
    sees = b.add("And", sees, b.add("LessOrEqual", positions, own))
    if b.has("block_row_indices"):
        return b.add("And", sees, _blocks(b, own, s))
    window = b.attr("local_window_size", -1)
    if window > 0:
        first = b.add("Sub", own, b.const(window, np.int32))
        sees = b.add("And", sees, b.add("Greater", positions, first))
    return sees


def _softmax(b, scores, s):
    """Return the softmax of scores; with a sink, one more score per head takes part."""
    if not b.has("head_sink") and b.attr("smooth_softmax", -1) != 1:
        return b.add("Softmax", scores, axis=-1)
    if b.has("head_sink"):
        sink = b.reshape(b.wide("head_sink"), 1, s.heads, 1, 1)
        sink = b.add("Expand", sink, b.ints(s.batch, s.heads, s.tokens, 1))
    else:
        sink = b.const(np.zeros((s.batch, s.heads, s.tokens, 1)), np.float32)
    weights = b.add("Softmax", b.concat([scores, sink], 3), axis=-1)
    return b.slice(weights, 0, s.total, 3)


@expands(
    "SparseAttention",
    inputs="query key value past_key past_value block_row_indices block_col_indices "
    "total_sequence_length key_total_sequence_lengths cos_cache sin_cache",
    outputs="output present_key present_value",
    fixes="total_sequence_length block_row_indices block_col_indices",
)
def sparse_attention(b: Body):
    """Expand attention in which each head sees some blocks of keys, within given buffers."""
    inputs, s = _unpacked(b), _sizes(b)
    if s.total > s.past:
        raise Problem(f"{s.total} keys in a buffer of {s.past}")
    ends = b.reshape("key_total_sequence_lengths", s.batch, 1)
    q, k, v, start = _with_heads(b, inputs, ends, s)
    keys, values = (
        _replaced(b, b.transpose(new, 0, 2, 1, 3), name, start, s)
        for new, name in ((k, "past_key"), (v, "past_value"))
    )
    y = _attend(b, b.transpose(q, 0, 2, 1, 3), keys, values, (start, ends), s)[0]
    y = b.reshape(b.transpose(y, 0, 2, 1, 3), s.batch, s.tokens, s.heads * s.head)
    return [b.narrow(x, "query") for x in (y, keys, values)]


def _replaced(b, new, name, start, s):
    """Return a past buffer with the new elements written from `start` on.

    Args:
        b: the Body.
        new: the new keys or values.
        name: name of the past ones.
        start: position of the first new token of each sample.
        s: the sizes.
    """
    if s.is_first:
        if s.capacity == s.tokens:
            return new
        return b.concat([new, b.slice(b.wide(name), s.tokens, s.capacity, 2)], 2)
    past = b.wide(name)
    for t, one in enumerate(b.split(new, [1] * s.tokens, 2)):
        position = b.unsqueeze(b.add("Add", start, b.const(t, np.int32)), 2, 3)
        positions = b.const(np.arange(s.capacity)[:, None], np.int32)
        past = b.add("Where", b.add("Equal", positions, position), one, past)
    return past


def _blocks(b, own, s):
    """Return True for the keys whose blocks a query sees, (batch, heads, tokens, total)."""
    rows, columns = b.known("block_row_indices"), b.known("block_col_indices")
    if rows is None or columns is None:
        raise Problem("the indices of blocks are not known")
    size, blocks = b.attr("sparse_block_size"), rows.shape[1] - 1
    sees = np.zeros((len(rows), blocks, blocks), bool)
    for layout, ends in enumerate(rows):
        for row in range(blocks):
            sees[layout, row, columns[layout, ends[row] : ends[row + 1]]] = True
    sees = np.repeat(sees, size, axis=2)[:, :, : s.total]
    block = b.add("Div", own, b.const(size, np.int32))  # (batch, 1, tokens, 1)
    result = b.add("Gather", b.const(sees), b.reshape(block, s.batch, s.tokens), axis=1)
    result = b.transpose(result, 1, 0, 2, 3)
    return b.add("Gather", result, b.const(np.arange(s.heads) % len(rows), np.int64), axis=1)
