"""Tables beside quantized products, and those of bytes, in few bits.

1. The table of the channels of a product: of 8 bytes a channel about 5 are left. A step makes the
   8 bytes of them in its scratch before its loops run (mpconnxr/ops/qtable.py), so that its
   weights stay where they are. Products that take their input as it lies have no scratch, and
   sums in int32 no multipliers: their tables stay as they are.
2. A table of 256 bytes that rises slowly: its steps (mpconnxr/ops/lookup.py).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .extent import any_open
from .ir import Graph, Step, Tensor, walk
from .ops._qweights import AS_IT_IS

_CHANNELS = {"qconv": (1, 5), "qdepthwise": (1, 2)}  # parameters whose product they are
_MOST_ROOM = 2048  # bytes of scratch
_MOST_BITS = 24
_MOST_STEP_BITS = 4
_LEAST_SAVED = 0.02  # of all constants
_BYTES, _UINT8, _INT8 = (2, 3), 2, 3
_ENTRIES = 256


def pack(graph: Graph) -> None:
    """Changes the steps of the graph in place, if that makes the file smaller by some percent."""
    found = [_packed(step) for step in walk(graph.steps)]
    changes = [change for change in found if change]
    constants = {t.root for t in graph.tensors() if t.root.data is not None}
    if sum(saved for saved, _ in changes) >= _LEAST_SAVED * sum(t.nbytes for t in constants):
        for _, change in changes:
            change()


def _packed(step: Step) -> tuple[int, Callable[[], None]] | None:
    """(bytes that are saved, what changes the step)."""
    if step.kernel in _CHANNELS and _is_one(step):
        found = _table(step)
        if found:
            saved = 8 * _channels(step) - len(found[0])
            return saved, lambda: _replace(step, *found)
    if step.kernel == "lookup" and not step.scratch and step.inputs[1].nbytes == _ENTRIES:
        return _steps(step)
    return None


def _steps(step: Step) -> tuple[int, Callable[[], None]] | None:
    table, first = step.inputs[1], 128 if step.inputs[0].dtype == _INT8 else 0
    if table.data is None:
        return None
    items = np.roll(table.data.reshape(-1).view(np.uint8), -first)
    rises = np.diff(items)  # modulo 256
    bits = int(rises.max()).bit_length()
    if bits > _MOST_STEP_BITS:
        return None
    data = packed([(rises.astype(np.int64), bits)])

    def change():
        step.inputs[1] = Tensor(table.name, _UINT8, data.shape, data)
        step.scratch.append(Tensor(f"{table.name}/table", _UINT8, (_ENTRIES,)))
        step.params[:] = [bits, first, int(items[0])]

    return _ENTRIES - len(data), change


def _is_one(step):
    room = 8 * _channels(step)
    if any_open(step.params) or step.outputs[0].dtype not in _BYTES or not step.scratch:
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
    unit = 16 if (multipliers != least_word).any() else 0
    least_word = least_word >> unit << unit
    bits, word_bits = _bits(constants - least), _bits(multipliers - least_word)
    if (words[:, 1] >> 31 == 0).any() or bits > _MOST_BITS or abs(least) >> 29:
        return None
    data = packed([(constants - least, bits), (multipliers - least_word, word_bits)])
    return data, [bits, word_bits, least_word >> unit, least]


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
