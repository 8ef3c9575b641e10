"""Tables of quantized products in few bits: of 8 bytes a channel about 5 are left.

A step makes the 8 bytes of them in its scratch before its loops run (mpconnxr/ops/qtable.py), so
that its weights stay where they are. Those that take their input as it lies have no scratch, and
sums in int32 no multipliers: their tables stay as they are.
"""

from __future__ import annotations

import numpy as np

from .extent import any_open
from .ir import Graph, Step, Tensor, walk
from .ops._qweights import AS_IT_IS

_CHANNELS = {"qconv": (1, 5), "qdepthwise": (1, 2)}  # parameters whose product they are
_MOST_ROOM = 2048  # bytes of scratch
_MOST_BITS = 24
_LEAST_SAVED = 0.02  # of all constants
_INT8 = (2, 3)


def pack(graph: Graph) -> None:
    """Changes the steps of the graph in place, if that makes the file smaller by some percent."""
    steps = [s for s in walk(graph.steps) if s.kernel in _CHANNELS and _is_one(s)]
    tables = {s: found for s in steps if (found := _table(s))}
    saved = sum(8 * _channels(s) - len(data) for s, (data, _) in tables.items())
    constants = [t for t in graph.tensors() if t.root.data is not None]
    if saved >= _LEAST_SAVED * sum(t.stored_nbytes for t in constants):
        for step, (data, params) in tables.items():
            _replace(step, data, params)


def _is_one(step):
    room = 8 * _channels(step)
    if any_open(step.params) or step.outputs[0].dtype not in _INT8 or not step.scratch:
        return False
    return tuple(step.params[-4:]) == AS_IT_IS and 0 < room <= _MOST_ROOM


def _channels(step: Step) -> int:
    a, b = _CHANNELS[step.kernel]
    return step.params[a] * step.params[b]


def _table(step: Step) -> tuple[np.ndarray, list[int]] | None:
    """The table in few bits, and what the kernel has to know of it; None where that can't be."""
    channels = _channels(step)
    flat = step.inputs[1].data.reshape(-1)
    words = flat[: 8 * channels].view("<u4").reshape(channels, 2).astype(np.int64)
    constants = words[:, 0].astype(np.uint32).view(np.int32).astype(np.int64)
    multipliers = (words[:, 1] & 63) << 23 | words[:, 1] >> 8 & 0x7FFFFF
    least, least_word = int(constants.min()), int(multipliers.min())
    bits, word_bits = _bits(constants - least), _bits(multipliers - least_word)
    if (words[:, 1] >> 31 == 0).any() or bits > _MOST_BITS or abs(least) >> 29:
        return None
    data = packed([(constants - least, bits), (multipliers - least_word, word_bits)])
    return data, [bits, word_bits, least_word, least]


def _replace(step: Step, table: np.ndarray, params: list[int]) -> None:
    room, w, scratch = 8 * _channels(step), step.inputs[1], step.scratch[0]
    data = np.concatenate([table, w.data.reshape(-1)[room:]])
    step.inputs[1] = Tensor(w.name, w.dtype, data.shape, data)
    used = scratch.nelem + -scratch.nelem % 4
    step.scratch[0] = Tensor(scratch.name, scratch.dtype, (used + room,))
    step.params[-4:] = params


def _bits(values: np.ndarray) -> int:
    return int(values.max()).bit_length()


def packed(fields: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """Fields (values, bits) of each item one behind another, lowest bit first; whole words."""
    columns = [(values[:, None] >> np.arange(bits)) & 1 for values, bits in fields]
    bits = np.concatenate(columns, 1).reshape(-1).astype(np.uint8)
    found = np.packbits(bits, bitorder="little")
    return np.concatenate([found, np.zeros(-len(found) % 4, np.uint8)])
