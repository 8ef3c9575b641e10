"""Cases of operators that cut strings into words and characters, or embed words."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes

_ALPHABET = list("aabbcAZ019   __,,;;-\n\té日")
_TOKENIZERS = (
    {"tokenexp": "[a-zA-Z0-9_]+"},
    {"tokenexp": r"\w\w+"},
    {"tokenexp": r"\b\w+\b"},
    {"tokenexp": "a|ab|b[0-9]*"},
    {"tokenexp": ".+"},
    {"tokenexp": "a*"},
    {"tokenexp": "[^a-c ]{2,3}"},
    {"separators": [" "]},
    {"separators": [",", ";"]},
    {"separators": [",;", ",", " +"]},
    {"separators": [r"\s+", "[0-9]|a1"]},
    {"separators": ["a|aa|ab", "é"]},
    {"separators": [""]},
    {"tokenexp": "."},
)


@makes("Tokenizer")
def tokenizer(draw):
    """Draw vectors and matrices, strings without a token, and letters beyond ASCII."""
    for c in draw.each(
        56,
        split=_TOKENIZERS,
        mark=[0, 1],
        mincharnum=[1, 1, 2],
        pad_value=["#", "", "日本"],
        shape=[(1,), (3,), (1, 2), (2, 3)],
        most=[2, 12, 30],
    ):
        is_character = c.split in ({"separators": [""]}, {"tokenexp": "."})
        least = 1 if is_character else c.mincharnum
        x = np.empty(c.shape, object)
        for at in np.ndindex(*c.shape):
            x[at] = "".join(draw.rng.choice(_ALPHABET, draw.size(0, c.most)))
        yield Spec([x], {"mincharnum": least, **c.split, **c.attributes("mark", "pad_value")})


@makes("WordConvEmbedding")
def word_conv_embedding(draw):
    """Yield cases with words of different lengths, some shorter than the window.

    No word is empty, since onnxruntime does not set its row.
    """
    for c in draw.each(
        28, fixed=[(1, 2, 3), (1, 2), ()], named=[True, False], window=[1, 2, 3], opset=[None, 11]
    ):
        words, length = draw.size(1, 5), c.window + draw.size(0, 5)
        filters, size, characters = (draw.size(1, n) for n in (6, 5, 9))
        x = draw.ints((words, length), np.int32, 1, characters)
        for row in x:
            row[draw.size(1, length) :] = 0
        w = draw.floats((filters, 1, c.window, size))
        inputs = [x, w, draw.floats((filters,)), draw.floats((characters + 1, size))]
        named = {
            "char_embedding_size": size,
            "conv_window_size": c.window,
            "embedding_size": filters,
        }
        yield Spec(inputs, named if c.named else {}, c.fixed, opset=c.opset)
