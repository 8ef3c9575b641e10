"""Cases of embeddings with a layer normalization, and of rotary embeddings."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes, trimmed


@makes("EmbedLayerNormalization")
def embed(draw):
    """Vary the optional segments, positions and mask."""
    for c in draw.each(
        32,
        segments=[True, False],
        positions=[None, "one", "all"],
        mask=[None, "front", "any"],
        mask_index_type=[None, 0, 1],
        epsilon=[None, 1e-3],
        total=[True, False],
        fixed=[True, False],
        opset=[None, 11, 12],
    ):
        batch, seq, size, words = (draw.size(1, n) for n in (3, 5, 8, 9))
        ids = draw.ints((batch, seq), np.int32, 0, words - 1)
        places = seq + draw.size(0, 3)
        positions = None
        if c.positions:
            rows = batch if c.positions == "all" else 1
            positions = draw.ints((rows, seq), np.int32, 0, places - 1)
        mask = None
        if c.mask == "any":
            mask = draw.ints((batch, seq), np.int32, 0, 1)
        elif c.mask:
            ends = draw.ints((batch, 1), np.int32, 0, seq)
            mask = (np.arange(seq) < ends).astype(np.int32)
        inputs = [
            ids,
            draw.ints((batch, seq), np.int32, 0, 1) if c.segments else None,
            draw.floats((words, size)),
            draw.floats((places, size)),
            draw.floats((2, size)) if c.segments else None,
            *(draw.floats((size,)) for _ in range(2)),
            mask,
            positions,
        ]
        trimmed(inputs)
        fixed = [i for i in (2, 3, 4, 5, 6) if inputs[i] is not None] if c.fixed else ()
        has_index = c.mask is not None or c.mask_index_type == 1
        outputs = (True, has_index, c.total)
        yield Spec(
            inputs,
            c.attributes("mask_index_type", "epsilon"),
            fixed,
            outputs,
            {1: np.int32},
            opset=c.opset,
        )


@makes("QEmbedLayerNormalization")
def quantized_embed(draw):
    """Draw tables of bytes with scales and zero points."""
    for c in draw.each(
        28,
        dtype=[np.uint8, np.int8],
        segments=[True, False],
        mask=[None, "front", "any"],
        epsilon=[None, 1e-3],
        fixed=[True, False],
        opset=[None, 11, 12],
    ):
        batch, seq, size, words = (draw.size(1, n) for n in (3, 5, 8, 9))
        mask = None
        if c.mask == "any":
            mask = draw.ints((batch, seq), np.int32, 0, 1)
        elif c.mask:
            ends = draw.ints((batch, 1), np.int32, 0, seq)
            mask = (np.arange(seq) < ends).astype(np.int32)
        there = [True, True, c.segments, True, True]
        of_segments = (2, size) if c.segments else None
        shapes = [(words, size), (seq + 2, size), of_segments, (size,), (size,)]
        inputs = [
            draw.ints((batch, seq), np.int32, 0, words - 1),
            draw.ints((batch, seq), np.int32, 0, 1) if c.segments else None,
            *(draw.ints(s, c.dtype) if s else None for s in shapes),
            mask,
            *(draw.scales(()) if is_ else None for is_ in there),
            *(draw.ints((), c.dtype) if is_ else None for is_ in there),
        ]
        constants = [i for i in range(2, 18) if i != 7 and inputs[i] is not None]
        fixed = constants if c.fixed else ()
        yield Spec(inputs, c.attributes("epsilon"), fixed, (True, True), opset=c.opset)


@makes("RotaryEmbedding")
def rotary(draw):
    """Vary layouts (hidden size or heads), rotated parts, and interleaving."""
    for c in draw.each(
        36,
        dtype=[np.float32, np.float32, np.float16],
        rank=[3, 4],
        interleaved=[None, 0, 1],
        part=[False, False, True],
        positions=["start", "all"],
        is_packed_batching=[None, None, 0, 1],
        scale=[None, 1.0, 2.0],
        fixed=[True, False],
    ):
        batch, heads, seq, half = (draw.size(1, n) for n in (3, 3, 5, 4))
        head, rotated = 2 * half + (2 if c.part else 0), 2 * half
        shape = (batch, seq, heads * head) if c.rank == 3 else (batch, heads, seq, head)
        many = seq + draw.size(0, 4)
        start = np.array([draw.size(0, many - seq)], np.int64)
        positions = start
        if c.positions == "all":
            positions = draw.ints((batch, seq), np.int64, 0, many - 1)
        angles = draw.rng.uniform(-3, 3, (many, half))
        attributes = c.attributes("interleaved", "is_packed_batching", "scale")
        if c.part:
            attributes |= {"rotary_embedding_dim": rotated, "num_heads": heads}
        inputs = [
            draw.floats(shape, c.dtype),
            positions,
            np.cos(angles).astype(c.dtype),
            np.sin(angles).astype(c.dtype),
        ]
        yield Spec(inputs, attributes, (2, 3) if c.fixed else ())


@makes("MRotaryEmbedding")
def multimodal_rotary(draw):
    """Yield cases with three positions for each token, in both layouts of the sections."""
    for c in draw.each(
        36,
        dtype=[np.float32, np.float32, np.float16],
        rank=[3, 4],
        interleaved=[None, 0, 1],
        mrope_layout=[None, 0, 1],
        part=[False, False, True],
        fixed=[True, False],
    ):
        batch, heads, seq, third = (draw.size(1, n) for n in (3, 3, 5, 3))
        sections = [third] * 3
        if not c.mrope_layout:
            sections = [third, draw.size(0, 2), draw.size(0, 3)]
        half = sum(sections)
        head = 2 * half + (2 if c.part else 0)
        shape = (batch, seq, heads * head) if c.rank == 3 else (batch, heads, seq, head)
        many = 2 * seq + 3
        angles = draw.rng.uniform(-3, 3, (many, half))
        attributes = {"mrope_section": sections, **c.attributes("interleaved", "mrope_layout")}
        if c.part or c.rank == 3:
            attributes["num_heads"] = heads
        if c.part:
            attributes["rotary_embedding_dim"] = 2 * half
        inputs = [
            draw.floats(shape, c.dtype),
            draw.ints((3, batch, seq), np.int64, 0, many - 1),
            np.cos(angles).astype(c.dtype),
            np.sin(angles).astype(c.dtype),
        ]
        yield Spec(inputs, attributes, (2, 3) if c.fixed else ())
