"""Tables beside quantized products, and those of bytes, in few bits.

1. The table of the channels of a product: channel_table.py. A step makes the 8 bytes a channel of
   it in its scratch before its loops run (mpconnxr/ops/_qtable.py), so that its weights stay where
   they are. Products that take their input as it lies have no scratch, and sums in int32 no
   multipliers: their tables stay as they are.
2. A table of 256 bytes that rises slowly: its steps (mpconnxr/ops/lookup.py).

Where short tables make the file smaller by a percent, they are short ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..ir import Graph, Step, Tensor, walk
from ..ops._qweights import AS_IT_IS
from ..shapes.extent import any_open
from .channel_table import channel_table

_KERNELS = ("qconv", "qdepthwise")
_MOST_ROOM = 2048  # bytes of scratch
_MOST_STEP_BITS = 4
_LEAST_SAVED = 0.02  # of all constants
_BYTES, _UINT8, _INT8 = (2, 3), 2, 3
_ENTRIES = 256

_LEAST_SHORTENED, _LEAST_SHORTENED_NBYTES = 0.01, 512  # by short tables


class _Change(NamedTuple):
    saved: int  # bytes
    make: Callable[[], None]


def pack(graph: Graph) -> None:
    """Changes the steps of the graph in place, if that makes the file smaller by some percent."""
    constants = {t.root for t in graph.tensors() if t.root.data is not None}
    nbytes = sum(t.nbytes for t in constants)
    changes, short = (_changes(graph, is_short) for is_short in (False, True))
    more = _saved(short) - _saved(changes)
    if more >= max(_LEAST_SHORTENED * nbytes, _LEAST_SHORTENED_NBYTES):
        changes = short
    if _saved(changes) >= _LEAST_SAVED * nbytes:
        for change in changes:
            change.make()


def _changes(graph: Graph, is_short: bool) -> list[_Change]:
    found = [_packed(step, is_short) for step in walk(graph.steps)]
    return [change for change in found if change]


def _saved(changes: list[_Change]) -> int:
    return sum(change.saved for change in changes)


def _packed(step: Step, is_short: bool) -> _Change | None:
    if step.kernel in _KERNELS and step.inputs[1].data is not None and _is_one(step):
        return _table(step, is_short)
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
        step.set_params(bits=bits, first=first, item=int(items[0]))

    return _Change(_ENTRIES - len(data), make)


def _is_one(step):
    room = 8 * _channels(step)
    if any_open(step.params) or step.outputs[0].dtype not in _BYTES or not step.scratch:
        return False
    return tuple(step["table"]) == AS_IT_IS and 0 < room <= _MOST_ROOM


def _channels(step: Step) -> int:
    return step["g"] * step["m"]


def _table(step: Step, is_short: bool) -> _Change | None:
    """The table in few bits, and what the kernel has to know of it; None where that can't be."""
    channels = _channels(step)
    found = channel_table(step, channels, is_short)
    if not found:
        return None
    table, named = packed(found[0]), found[1]
    return _Change(8 * channels - len(table), lambda: _replace(step, table, named))


def _replace(step: Step, table: np.ndarray, named: dict[str, int]) -> None:
    room, w, scratch = 8 * _channels(step), step.inputs[1], step.scratch[0]
    data = np.concatenate([table, w.data.reshape(-1)[room:]])
    step.inputs[1] = Tensor(w.name, w.dtype, data.shape, data)
    used = scratch.nelem + -scratch.nelem % 4
    step.scratch[0] = Tensor(scratch.name, scratch.dtype, (used + room,))
    for name, value in named.items():
        step[name] = value


def packed(fields: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """Fields (values, bits) of each item one behind another, lowest bit first; whole words."""
    columns = [(values[:, None] >> np.arange(bits)) & 1 for values, bits in fields]
    bits = np.concatenate(columns, 1).reshape(-1).astype(np.uint8)
    found = np.packbits(bits, bitorder="little")
    return np.concatenate([found, np.zeros(-len(found) % 4, np.uint8)])
