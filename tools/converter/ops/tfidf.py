"""Lower TfIdfVectorizer to kernel tfidf."""

from __future__ import annotations

import numpy as np

from tools.format.objects import OPEN, STRING, string_array, text_of

from ..errors import Problem
from ..ir import Tensor
from . import lowers

_MODES = ("TF", "IDF", "TFIDF")


@lowers("TfIdfVectorizer")
@lowers("TfIdfVectorizer", objects=True)
def lower_tfidf(node):
    """Lower TfIdfVectorizer.

    n-grams become indices into the sorted list of distinct words, ordered by length.
    """
    x, out = node.inputs[0], node.outputs[0]
    mode, index = node.attr("mode"), node.attr("ngram_indexes")
    if mode not in _MODES:
        raise Problem(f"mode {mode}")
    pool = _pool(node, x)
    words = sorted(set(pool))
    number_of = {v: i for i, v in enumerate(words)}
    numbers, grams, used = _table(node, [number_of[v] for v in pool], len(index))
    weights = (node.attr("weights") or []) if mode != "TF" else []
    if len(weights) not in (0, len(index)):
        raise Problem(f"{len(weights)} weights for {len(index)} n-grams")
    width = max(index) + 1
    rows, skips = _rows(x), node.attr("max_skip_count")
    if out.nelem != rows * width:
        raise Problem(f"{out.nelem} outputs for {rows} rows of {width}")
    constants = [
        string_array(words) if x.dtype == STRING else np.array(words, np.int64),
        np.array(grams, np.int32),
        np.array([index[k] for k in used], np.int32),
        np.array([weights[k] for k in used] if weights else [], np.float32),
    ]
    params = {"lines": rows, "width": width, "skips": skips, "counts": mode != "IDF"}
    node.emit("tfidf", [x, *map(node.constant, constants)], [out], **params, numbers=numbers)


def _pool(node, x: Tensor) -> list:
    if x.dtype == STRING:
        return [text_of(s) for s in node.attr("pool_strings") or []]
    return list(node.attr("pool_int64s") or [])


def _rows(x: Tensor) -> int:
    """Return the number of rows. A vector is one row; only its length may be open."""
    if len(x.shape) > 2 or (len(x.shape) == 2 and x.shape[0] == OPEN):
        raise Problem(f"input of shape {list(x.shape)}")
    return x.shape[0] if len(x.shape) == 2 else 1


def _table(node, pool, n):
    """Return counts of n-grams by length, their words, and their indices; unused are omitted."""
    starts = [*node.attr("ngram_counts"), len(pool)]
    least, most = node.attr("min_gram_length"), node.attr("max_gram_length")
    numbers, grams, order, number = [], [], [], 0
    for length, (start, end) in enumerate(zip(starts, starts[1:], strict=False), 1):
        if not 0 <= start <= end or (end - start) % length:
            raise Problem("ngram_counts do not fit the pool")
        by_gram = {}
        for at in range(start, end, length):
            by_gram[tuple(pool[at : at + length])] = number
            number += 1
        used = sorted(by_gram.items()) if least <= length <= most else []
        numbers.append(len(used))
        grams += [v for gram, _ in used for v in gram]
        order += [k for _, k in used]
    if number != n:
        raise Problem(f"{n} ngram_indexes for {number} n-grams")
    return numbers, grams, order
