"""Cases of GroupQueryAttention and SparseAttention: fewer keys than queries, cached."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes, trimmed


@makes("GroupQueryAttention")
def group_query_attention(draw):
    """Vary first and later prompts, single tokens, rotary embeddings, windows and sinks."""
    yield from _cases(draw, 64, [None])
    kinds = ("PER_TENSOR", "PER_CHANNEL")
    yield from _cases(draw, 32, [(bits, kind) for bits in (8, 4) for kind in kinds])


def _cases(draw, n, caches):
    """Yield n specs.

    Args:
        draw: source of random numbers.
        n: number of specs.
        caches: options of the cache: None, or (bits of an element, kind of quantization).
    """
    for c in draw.each(
        n,
        cache=caches,
        form=["first", "first into a buffer", "later", "token", "token", "ragged"],
        dtype=[np.float32, np.float32, np.float16],
        heads=[(1, 1), (2, 1), (4, 2), (3, 3)],
        packed=[False, False, True],
        rotary=[None, None, "whole", "part"],
        interleaved=[None, 0, 1],
        positions=[False, False, True],
        scale=[None, None, 0.3],
        softcap=[None, None, 2.0],
        local_window_size=[None, None, 1, 3],
        causal=[None, None, 1, 0],
        smooth_softmax=[None, None, 0, 1],
        sink=[False, False, True],
        attention_bias=[None, None, (0, 0), (1, 1)],
        qk_output=[None, None, 1, 2],
        buffer=[0, 2],
        fixed=[True, False],
    ):
        heads, groups = c.heads
        batch = 1 if c.form == "later" else draw.size(1, 3)
        tokens = 1 if c.form in ("token", "ragged") else draw.size(2, 4)
        head = {None: 8, "whole": 16, "part": 32}[c.rotary]  # onnxruntime requires multiples of 8
        past = 0 if c.form.startswith("first") else draw.size(2, 5)
        total = past + tokens
        ends = np.full((batch,), total - 1, np.int32)
        if c.form == "ragged":
            ends -= draw.ints((batch,), np.int32, 0, past - 1)
            ends[0] = total - 1
        q = draw.floats((batch, tokens, heads * head), c.dtype)
        k, v = (draw.floats((batch, tokens, groups * head), c.dtype) for _ in range(2))
        if c.packed:
            q, k, v = np.concatenate([q, k, v], 2), None, None
        capacity = total + c.buffer if c.buffer else past
        old = [None, None]
        if past or c.form == "first into a buffer":
            capacity = capacity or total
            old = [draw.floats((batch, groups, capacity, head), c.dtype) for _ in range(2)]
        scales, quantized = [None, None], {}
        if c.cache:
            old, scales, quantized = _quantized(draw, c.cache, (batch, groups, capacity, head))
        inputs = [q, k, v, *old, ends, np.array(total, np.int32)]
        inputs += _rotary(draw, c, batch, tokens, past)
        bias = None
        if c.attention_bias:
            rows, many = batch if c.attention_bias[0] else 1, heads if c.attention_bias[1] else 1
            bias = draw.floats((rows, many, tokens, total), c.dtype)
        inputs += [bias, draw.floats((heads,), c.dtype) if c.sink else None, *scales]
        trimmed(inputs)
        attributes = {"num_heads": heads, "kv_num_heads": groups, **quantized}
        names = ["scale", "softcap", "causal", "smooth_softmax"]
        # onnxruntime does not initialize qk beyond a sequence's end
        has_qk = c.qk_output is not None and c.form != "ragged"
        if has_qk:
            names.append("qk_output")
        if c.causal != 0:
            names.append("local_window_size")
        attributes |= c.attributes(*names)
        if c.rotary:
            attributes["do_rotary"] = 1
            if c.interleaved is not None:
                attributes["rotary_interleaved"] = c.interleaved
        outputs = (True, True, True, has_qk)
        fixed = (5, 6) if c.fixed else (6,)
        yield Spec(inputs, attributes, fixed, outputs, {3: c.dtype})


def _quantized(draw, cache, shape):
    """Return past keys and values, their scales, and the attributes that describe them."""
    bits, kind = cache
    many = (1,) if kind == "PER_TENSOR" else (1, shape[1], 1, shape[3])
    if bits == 4:
        old = [draw.ints((*shape[:3], shape[3] // 2), np.uint8) for _ in range(2)]
        scales = [draw.scales(many, 0.2, 0.5) for _ in range(2)]
    else:
        old = [draw.ints(shape, np.int8) for _ in range(2)]
        scales = [draw.scales(many, 0.01, 0.05) for _ in range(2)]
    kinds = {f"{letter}_quant_type": kind for letter in "kv"}
    return old, scales, {"kv_cache_bit_width": bits, **kinds}


@makes("SparseAttention")
def sparse_attention(draw):
    """Vary first and later prompts and single tokens, with layouts of blocks."""
    for c in draw.each(
        32,
        # onnxruntime mixes up the weights of sequences of different lengths
        form=["first", "later", "token"],
        dtype=[np.float32, np.float32, np.float16],
        heads=[(1, 1), (2, 1), (4, 2)],
        packed=[False, False, True],
        rotary=[None, None, "whole"],
        interleaved=[None, 0, 1],
        positions=[False],
        scale=[None, None, 0.3],
        layouts=[1, 2],
        block=[16, 32],
    ):
        heads, groups = c.heads
        layouts = min(c.layouts, heads)
        batch = 1 if c.form in ("first", "later") else draw.size(1, 2)
        tokens = 1 if c.form == "token" else draw.size(2, 40)
        head = 16 if c.rotary else 8
        past = 0 if c.form == "first" else draw.size(2, 40)
        total = past + tokens
        blocks = -(-total // c.block) + draw.size(0, 1)
        ends = np.full((batch,), total, np.int32)
        q = draw.floats((batch, tokens, heads * head), c.dtype)
        k, v = (draw.floats((batch, tokens, groups * head), c.dtype) for _ in range(2))
        if c.packed:
            q, k, v = np.concatenate([q, k, v], 2), None, None
        old = [draw.floats((batch, groups, blocks * c.block, head), c.dtype) for _ in range(2)]
        sees = np.tril(draw.rng.random((layouts, blocks, blocks)) < 0.5) | np.eye(
            blocks, dtype=bool
        )
        rows, columns = _csr(sees)
        inputs = [q, k, v, *old, rows, columns, np.array([total], np.int32), ends]
        inputs += _rotary(draw, c, batch, tokens, past)[:2]
        trimmed(inputs)
        attributes = {"num_heads": heads, "kv_num_heads": groups, "sparse_block_size": c.block}
        attributes |= c.attributes("scale")
        if c.rotary:
            attributes["do_rotary"] = 1
            if c.interleaved is not None:
                attributes["rotary_interleaved"] = c.interleaved
        yield Spec(inputs, attributes, (5, 6, 7), (True,) * 3, shared={1: 3, 2: 4})


def _csr(sees):
    """Return where rows of blocks end and their block indices, padded with -1."""
    rows = np.concatenate([np.zeros((len(sees), 1)), sees.sum(2).cumsum(1)], 1).astype(np.int32)
    columns = [np.nonzero(layout)[1] for layout in sees]
    most = max(map(len, columns))
    return rows, np.stack(
        [np.pad(c, (0, most - len(c)), constant_values=-1) for c in columns]
    ).astype(np.int32)


def _rotary(draw, c, batch, tokens, past):
    """Draw cosines, sines and positions; None for inputs that the case omits.

    Args:
        draw: draws numbers.
        c: the options.
        batch: number of samples.
        tokens: number of new tokens.
        past: number of earlier tokens.
    """
    if not c.rotary:
        return [None] * 3
    angles = draw.rng.uniform(-3, 3, (past + tokens + 3, 8))
    positions = None
    if c.positions:
        first = draw.size(0, 2)
        positions = np.tile(np.arange(tokens) + past + first, (batch, 1)).astype(np.int64)
    return [np.cos(angles).astype(c.dtype), np.sin(angles).astype(c.dtype), positions]
