"""Scores of a text's next token, without those that would repeat an n-gram."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto

from ...errors import Problem
from .building import Body, expands


@expands("NGramRepeatBlock", inputs="input_ids scores", outputs="scores_out", oldest=11)
def block_repeats(b: Body):
    """scores (B, V) with -inf for the tokens that would repeat an n-gram of input_ids (B, L).

    Each place of the text writes -inf: at its token where the n - 1 tokens before it are also the
    text's last ones, otherwise in a column behind the scores, which is then dropped.
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
        places = np.arange(count, dtype=np.int64)[:, None] + np.arange(n - 1)
        grams = b.add("Gather", "input_ids", b.const(places), axis=1)
        last = b.unsqueeze(b.slice("input_ids", count, length, 1), 1)
        differ = b.cast(b.add("Not", b.add("Equal", grams, last)), TensorProto.INT32)
        differ = b.cast(b.sum(differ, 2, keepdims=0), TensorProto.BOOL)
        token = b.add("Where", differ, b.const(vocabulary, np.int64), token)
    beyond = b.add("Concat", "scores", b.const(np.zeros((batch, 1)), np.float32), axis=1)
    worst = b.const(np.full((batch, count), -np.inf), np.float32)
    blocked = b.add("ScatterElements", beyond, token, worst, axis=1)
    return b.slice(blocked, 0, vocabulary, 1)


@expands("SampleOp", inputs="X", oldest=11)
def sample(b: Body):
    """X itself: onnxruntime's example of an operator of its own."""
    return b.add("Identity", "X")
