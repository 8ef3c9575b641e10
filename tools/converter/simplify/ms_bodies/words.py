"""Words as vectors, by a convolution over their characters."""

from __future__ import annotations

import numpy as np

from ...errors import Problem
from .building import Body, expands


@expands("WordConvEmbedding", inputs="Sequence W B C", oldest=11)
def word_conv_embedding(b: Body):
    """Sequence (S, L) -> Y (S, M): the largest tanh of windows of characters, for each filter.

    W (M, 1, window, E): filters; B (M); C (.., E): characters. A word is as long as it has numbers
    above 0, and has one window at least. Of words that start with 0, which onnxruntime leaves
    unset, the first window is taken.
    """
    length, window = b.extent("Sequence", 1), b.extent("W", 2)
    if b.extent("W", 3) != b.extent("C", 1) or length < window:
        raise Problem(f"words of {length}, W {b.shape('W')} and C {b.shape('C')}")
    characters = b.unsqueeze(b.add("Gather", "C", "Sequence", axis=0), 1)
    y = b.squeeze(b.add("Tanh", b.add("Conv", characters, "W", "B")), 3)
    is_character = b.cast(b.add("Greater", "Sequence", b.const(0, np.int32)))
    count = b.unsqueeze(b.sum(is_character, 1), 2)
    ends = np.arange(window, length + 1)
    ends[0] = 0  # the first window counts in any case
    is_beyond = b.add("Less", count, b.const(ends, np.float32))
    y = b.add("Where", is_beyond, b.const(-2), y)  # below any tanh
    if b.version >= 18:
        return b.add("ReduceMax", y, b.ints(2), keepdims=0)
    return b.add("ReduceMax", y, axes=[2], keepdims=0)
