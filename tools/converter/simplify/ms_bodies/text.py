"""Expand operators on text: vectors of words, and scores that must not repeat an n-gram."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands


@expands("WordConvEmbedding", inputs="Sequence W B C", oldest=11)
def word_conv_embedding(b: Body):
    """Compute vectors of words, Sequence (S, L) -> Y (S, M), by a convolution over characters.

    Each filter gives the largest tanh over the windows of a word. W (M, 1, window, E) are filters,
    B (M) biases, C (.., E) characters. A word ends at its first 0 and has at least one window. For
    words that start with 0, whose result onnxruntime leaves unset, the first window counts.
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


@expands("NGramRepeatBlock", inputs="input_ids scores", outputs="scores_out", oldest=11)
def block_repeats(b: Body):
    """Return scores (B, V) with -inf for tokens that would repeat an n-gram of input_ids (B, L).

    Each position of the text writes one -inf: to its token, if the n - 1 tokens before it equal
    the text's last n - 1 tokens; otherwise to a column behind the scores, which is dropped.
    """
    n = b.attr("ngram_size")
    if n < 1:
        raise Problem(f"ngram_size {n}")
    batch, length = b.shape("input_ids")
    vocabulary = b.extent("scores", 1)
    count = length - n + 1
    if count < 1:
        return b.add("Identity", "scores")
    token = b.slice("input_ids", n - 1, length, 1)
    if n > 1:
        positions = np.arange(count, dtype=np.int64)[:, None] + np.arange(n - 1)
        grams = b.add("Gather", "input_ids", b.const(positions), axis=1)
        last = b.unsqueeze(b.slice("input_ids", count, length, 1), 1)
        differ = b.cast(b.add("Not", b.add("Equal", grams, last)), TensorProto.INT32)
        differ = b.cast(b.sum(differ, 2, keepdims=0), TensorProto.BOOL)
        token = b.add("Where", differ, b.const(vocabulary, np.int64), token)
    beyond = b.add("Concat", "scores", b.const(np.zeros((batch, 1)), np.float32), axis=1)
    worst = b.const(np.full((batch, count), -np.inf), np.float32)
    blocked = b.add("ScatterElements", beyond, token, worst, axis=1)
    return b.slice(blocked, 0, vocabulary, 1)
