"""Tables beside quantized products, and those of bytes, in few bits.

1. The table of the channels of a product: channel_table.py. A step makes the 8 bytes a channel of
   it in its scratch before its loops run (mpconnxr/ops/qtable.py), so that its weights stay where
   they are. Products that take their input as it lies have no scratch, and sums in int32 no
   multipliers: their tables stay as they are.
2. A table of 256 bytes that rises slowly: its steps (mpconnxr/ops/lookup.py).

Where rows are so short that this is not little, multipliers get fewer bits than a float32 has:
docs/quantization.md says what that changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .channel_table import channel_table
from .extent import any_open
from .ir import Graph, Step, Tensor, walk
from .ops._qweights import AS_IT_IS

_CHANNELS = {"qconv": (1, 5), "qdepthwise": (1, 2)}  # parameters whose product they are
_MOST_ROOM = 2048  # bytes of scratch
_MOST_STEP_BITS = 4
_LEAST_SAVED = 0.02  # of all constants
_BYTES, _UINT8, _INT8 = (2, 3), 2, 3
_ENTRIES = 256

# Of a multiplier as a float32 has it, in its last place, and where it pays to round: the least
# part of all constants, and bytes.
_LARGEST_UNIT = 768
_LEAST_ROUNDED, _LEAST_ROUNDED_NBYTES = 0.03, 1024


class _Change(NamedTuple):
    saved: int  # bytes
    make: Callable[[], None]


def pack(graph: Graph) -> None:
    """Changes the steps of the graph in place, if that makes the file smaller by some percent."""
    constants = {t.root for t in graph.tensors() if t.root.data is not None}
    nbytes = sum(t.nbytes for t in constants)
    changes, rounded = (_changes(graph, unit) for unit in (1, _LARGEST_UNIT))
    more = _saved(rounded) - _saved(changes)
    if more >= max(_LEAST_ROUNDED * nbytes, _LEAST_ROUNDED_NBYTES):
        changes = rounded
    if _saved(changes) >= _LEAST_SAVED * nbytes:
        for change in changes:
            change.make()


def _changes(graph: Graph, largest_unit: int) -> list[_Change]:
    found = [_packed(step, largest_unit) for step in walk(graph.steps)]
    return [change for change in found if change]


def _saved(changes: list[_Change]) -> int:
    return sum(change.saved for change in changes)


def _packed(step: Step, largest_unit: int) -> _Change | None:
    if step.kernel in _CHANNELS and _is_one(step):
        return _table(step, largest_unit)
    if step.kernel == "lookup" and not step.scratch and step.inputs[1].nbytes == _ENTRIES:
        return _steps(step)
    return None


def _steps(step: Step) -> _Change | None:
    table, first = step.inputs[1], 128 if step.inputs[0].dtype == _INT8 else 0
    if table.data is None:
        return None
    items = np.roll(table.data.reshape(-1).view(np.uint8), -first)
    rises = np.diff(items)  # modulo 256
    bits = int(rises.max()).bit_length()
    if bits > _MOST_STEP_BITS:
        return None
    data = packed([(rises.astype(np.int64), bits)])

    def make():
        step.inputs[1] = Tensor(table.name, _UINT8, data.shape, data)
        step.scratch.append(Tensor(f"{table.name}/table", _UINT8, (_ENTRIES,)))
        step.params[:] = [bits, first, int(items[0])]

    return _Change(_ENTRIES - len(data), make)


def _is_one(step):
    room = 8 * _channels(step)
    if any_open(step.params) or step.outputs[0].dtype not in _BYTES or not step.scratch:
        return False
    return tuple(step.params[-len(AS_IT_IS) :]) == AS_IT_IS and 0 < room <= _MOST_ROOM


def _channels(step: Step) -> int:
    a, b = _CHANNELS[step.kernel]
    return step.params[a] * step.params[b]


def _table(step: Step, largest_unit: int) -> _Change | None:
    """The table in few bits, and what the kernel has to know of it; None where that can't be."""
    channels = _channels(step)
    found = channel_table(step, channels, largest_unit)
    if not found:
        return None
    table, params = packed(found[0]), found[1]
    return _Change(8 * channels - len(table), lambda: _replace(step, table, params))


def _replace(step: Step, table: np.ndarray, params: list[int]) -> None:
    room, w, scratch = 8 * _channels(step), step.inputs[1], step.scratch[0]
    data = np.concatenate([table, w.data.reshape(-1)[room:]])
    step.inputs[1] = Tensor(w.name, w.dtype, data.shape, data)
    used = scratch.nelem + -scratch.nelem % 4
    step.scratch[0] = Tensor(scratch.name, scratch.dtype, (used + room,))
    step.params[-len(params) :] = params


def packed(fields: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """Fields (values, bits) of each item one behind another, lowest bit first; whole words."""
    columns = [(values[:, None] >> np.arange(bits)) & 1 for values, bits in fields]
    bits = np.concatenate(columns, 1).reshape(-1).astype(np.uint8)
    found = np.packbits(bits, bitorder="little")
    return np.concatenate([found, np.zeros(-len(found) % 4, np.uint8)])
