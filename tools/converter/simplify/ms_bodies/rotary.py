"""Expand RotaryEmbedding and MRotaryEmbedding: rotate pairs of a head's numbers by their position.

onnxruntime does not use the attributes scale and is_packed_batching.
"""

from __future__ import annotations

import numpy as np

from ...errors import Problem
from .building import Body, expands


@expands("RotaryEmbedding", inputs="input position_ids cos_cache sin_cache", outputs="output")
def rotary(b: Body):
    """Expand RotaryEmbedding, with one position per token."""
    if b.rank("position_ids") == 1:  # the first token's
        count = b.extent("input", 1 if b.rank("input") == 3 else 2)
        positions = b.add("Add", "position_ids", b.const(np.arange(count)[None], np.int64))
    else:
        positions = "position_ids"
    rotations = [b.add("Gather", f"{name}_cache", positions, axis=0) for name in ("cos", "sin")]
    return _rotated_input(b, rotations)


@expands("MRotaryEmbedding", inputs="input position_ids cos_cache sin_cache", outputs="output")
def mrotary(b: Body):
    """Expand MRotaryEmbedding, whose tokens have positions in time, height and width.

    Each of the three positions rotates some of the pairs.
    """
    half = b.extent("cos_cache", 1)
    sections = b.attr("mrope_section")
    kind = np.zeros(half, np.int64)
    if b.attr("mrope_layout"):
        for i in (1, 2):
            kind[i : 3 * sections[i] : 3] = i
    else:
        kind = np.repeat(np.arange(3), sections)
    streams = b.split("position_ids", [1, 1, 1], 0)
    rotations = []
    for name in ("cos", "sin"):
        total = ""
        for i, stream in enumerate(streams):
            if (kind == i).any():
                rows = b.add("Gather", f"{name}_cache", b.squeeze(stream, 0), axis=0)
                total = b.add("Where", b.const(kind == i), rows, total) if total else rows
        rotations.append(total)
    return _rotated_input(b, rotations)


def _rotated_input(b, rotations):
    """Rotate the input by cos and sin, each (batch, sequence, half)."""
    half = b.extent("cos_cache", 1)
    is_split = b.rank("input") == 4
    size = b.extent("input", -1)
    heads = b.attr("num_heads", 0)
    in_part = b.attr("rotary_embedding_dim") and not is_split
    head = size // heads if in_part else size if is_split else 2 * half
    if head < 2 * half or (size != head if is_split else size % head):
        raise Problem(f"heads of {head} numbers for {half} pairs in an input of {size}")
    x = "input" if is_split else b.reshape("input", 0, 0, size // head, head)
    rotations = [b.unsqueeze(t, 1 if is_split else 2) for t in rotations]
    y = rotated(b, x, rotations, half, head, bool(b.attr("interleaved")))
    return y if is_split else b.reshape(y, 0, 0, size)


def rotated(b: Body, x: str, rotations, half: int, head: int, is_interleaved: bool) -> str:
    """Rotate the first 2 * half numbers of x.

    Args:
        b: the body.
        x: (..., head).
        rotations: cos and sin, (..., half).
        half: number of pairs.
        head: numbers of a head.
        is_interleaved: pairs are neighbours, not half a head apart.
    """
    cos, sin = rotations
    rest = []
    if head > 2 * half:
        x, *rest = b.split(x, [2 * half, head - 2 * half], -1)
    if is_interleaved:
        first, second = (b.slice(x, i, 2 * half, -1, 2) for i in (0, 1))
    else:
        first, second = b.split(x, [half, half], -1)
    parts = [
        b.add("Sub", b.add("Mul", first, cos), b.add("Mul", second, sin)),
        b.add("Add", b.add("Mul", first, sin), b.add("Mul", second, cos)),
    ]
    if is_interleaved:
        pairs = b.concat([b.unsqueeze(p, -1) for p in parts], -1)
        parts = [b.reshape(pairs, 0, 0, 0, 2 * half)]
    return b.concat([*parts, *rest], -1)
