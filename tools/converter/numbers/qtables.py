"""Pack the tables of quantized products, and of functions of bytes, into few bits.

1. The table of a product's channels: the 8 bytes of a channel become about 5, since each number is
   stored as its difference from the smallest one. Before its loops run, a step unpacks the table
   in its scratch (mpconnxr/ops/_qtable.py), so weights stay where they are. Products that read
   their input in place have no scratch, and sums in int32 have no multipliers: their tables stay.
2. A table of 256 bytes that rises slowly is stored as differences (mpconnxr/ops/lookup.py).

A *short* channel table omits what a zero point adds to a sum, because steps that run often enough
can add up their weights again. Short tables are used if they make the file smaller by a percent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..ir import Graph, Step, Tensor, walk
from ..ops._qweights import AS_IT_IS, row_sums
from ..ops._requantize import LOW_BITS, MOST_LEFT
from ..shapes.extent import any_open

_KERNELS = ("qconv", "qdepthwise")
_MOST_SCRATCH_NBYTES = 2048
_MOST_STEP_BITS = 4
_LEAST_SAVED = 0.02  # of all constants
_BYTES, _UINT8, _INT8 = (2, 3), 2, 3
_ENTRIES = 256

_LEAST_SHORTENED, _LEAST_SHORTENED_NBYTES = 0.01, 512  # by short tables
_MOST_BITS = 24
_MOST_FIELD_BITS = 29
_LEAST_POSITIONS = 32  # output positions from which on adding up weights pays


class _Change(NamedTuple):
    saved: int  # bytes
    make: Callable[[], None]


def pack(graph: Graph) -> None:
    """Pack the tables of a graph in place, if that makes the file noticeably smaller."""
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
    changes = [_packed(step, is_short) for step in walk(graph.steps)]
    return [change for change in changes if change]


def _saved(changes: list[_Change]) -> int:
    return sum(change.saved for change in changes)


def _packed(step: Step, is_short: bool) -> _Change | None:
    if step.kernel in _KERNELS and step.inputs[1].data is not None and _has__channel_fields(step):
        return _table(step, is_short)
    if step.kernel == "lookup" and not step.scratch and step.inputs[1].nbytes == _ENTRIES:
        return _steps(step)
    return None


def _steps(step: Step) -> _Change | None:
    table, first = step.inputs[1], 128 if step.inputs[0].dtype == _INT8 else 0
    if table.data is None:
        return None
    elements = np.roll(table.data.reshape(-1).view(np.uint8), -first)
    rises = np.diff(elements)  # modulo 256
    bits = int(rises.max()).bit_length()
    if bits > _MOST_STEP_BITS:
        return None
    data = packed([(rises.astype(np.int64), bits)])

    def make():
        step.inputs[1] = Tensor(table.name, _UINT8, data.shape, data)
        step.scratch.append(Tensor(f"{table.name}/table", _UINT8, (_ENTRIES,)))
        step.set_params(bits=bits, first=first, element=int(elements[0]))

    return _Change(_ENTRIES - len(data), make)


def _has__channel_fields(step):
    table_nbytes = 8 * _channels(step)
    if any_open(step.params) or step.outputs[0].dtype not in _BYTES or not step.scratch:
        return False
    return tuple(step["table"]) == AS_IT_IS and 0 < table_nbytes <= _MOST_SCRATCH_NBYTES


def _channels(step: Step) -> int:
    return step["g"] * step["m"]


def _table(step: Step, is_short: bool) -> _Change | None:
    """Return the change that packs a step's table; None if the kernel cannot unpack one."""
    channels = _channels(step)
    fields = _channel_fields(step, channels, is_short)
    if not fields:
        return None
    table, parameters = packed(fields[0]), fields[1]
    return _Change(8 * channels - len(table), lambda: _replace(step, table, parameters))


def _replace(step: Step, table: np.ndarray, parameters: dict[str, int]) -> None:
    table_nbytes, w, scratch = 8 * _channels(step), step.inputs[1], step.scratch[0]
    data = np.concatenate([table, w.data.reshape(-1)[table_nbytes:]])
    step.inputs[1] = Tensor(w.name, w.dtype, data.shape, data)
    used = scratch.nelem + -scratch.nelem % 4
    step.scratch[0] = Tensor(scratch.name, scratch.dtype, (used + table_nbytes,))
    for name, value in parameters.items():
        step[name] = value


def packed(fields: list[tuple[np.ndarray, int]]) -> np.ndarray:
    """Pack the fields (values, bits) of each element, lowest bit first, into whole words."""
    columns = [(values[:, None] >> np.arange(bits)) & 1 for values, bits in fields]
    bits = np.concatenate(columns, 1).reshape(-1).astype(np.uint8)
    data = np.packbits(bits, bitorder="little")
    return np.concatenate([data, np.zeros(-len(data) % 4, np.uint8)])


class _Fields(NamedTuple):
    """Numbers stored as differences from the smallest one.

    Attributes:
        values: the differences.
        bits: bits of the largest difference.
        least: the smallest number; of multipliers in units of 2**16.
    """

    values: np.ndarray
    bits: int
    least: int


class _Rows:
    """The numbers of a step's channels, and each channel's weights as the kernel reads them."""

    def __init__(self, step: Step, channels: int):
        flat = step.inputs[1].data.reshape(-1)
        table = flat[: 8 * channels].view("<u4").reshape(channels, 2)
        first = table[:, 0].view("<i4").astype(np.int64)
        self.constants, self.shifts = first >> 5, first & 31
        self.mantissas = table[:, 1].astype(np.int64)
        self.is_qconv = step.kernel == "qconv"
        weights = flat[8 * channels :]
        self.padded = len(weights) // channels
        if self.is_qconv:
            self.sums = row_sums(weights, step["g"], step["m"])
            self.positions = step["n"] * step["oh"] * step["ow"]
            self.x_zero = step["zx"]

    def without_sums(self) -> np.ndarray | None:
        """Return constants without -zx * (sum of the row), None if the kernel cannot add that."""
        if not self.is_qconv or self.positions < _LEAST_POSITIONS:
            return None
        if 255 * self.padded * self.x_zero >> 26 or (self.shifts > MOST_LEFT).any():
            return None
        rest = self.constants + self.x_zero * self.sums
        return rest if _fields_of(rest).bits < _fields_of(self.constants).bits else None


def _channel_fields(
    step: Step, channels: int, is_short: bool
) -> tuple[list[tuple[np.ndarray, int]], dict[str, int]] | None:
    """Return the fields (values, bits) of each channel and the step's parameters for them.

    Args:
        step: qconv or qdepthwise.
        channels: number of output channels.
        is_short: omit the sums of weights if the kernel can compute them.

    Returns:
        None if the kernel cannot use a packed table.
    """
    rows = _Rows(step, channels)
    if (rows.mantissas >> 30 == 0).any():
        return None
    without_sums = rows.without_sums() if is_short else None
    c = _fields_of(rows.constants if without_sums is None else without_sums)
    scale = _multiplier_fields(rows.shifts, rows.mantissas)
    lowest = rows.mantissas & (1 << LOW_BITS) - 1
    low = _low_bits(lowest)
    of_all = int(lowest[0]) & (1 << LOW_BITS - low) - 1
    if c.bits > _MOST_BITS or c.bits + low > _MOST_FIELD_BITS or abs(c.least) >> 26:
        return None
    parameters = {
        "table.bits": c.bits + low,
        "table.scale_bits": scale.bits,
        "table.scale": scale.least,
    }
    parameters |= {"table.low": low << 7 | of_all, "table.least": c.least}
    if rows.is_qconv:
        parameters["lacks_sums"] = int(without_sums is not None)
    lowest >>= LOW_BITS - low
    return [(c.values << low | lowest, c.bits + low), (scale.values, scale.bits)], parameters


def _low_bits(lowest: np.ndarray) -> int:
    """Return how many low bits of mantissas differ between channels."""
    differ = int(np.bitwise_or.reduce(lowest ^ lowest[0])) | 1 << LOW_BITS
    return LOW_BITS - ((differ & -differ).bit_length() - 1)


def _fields_of(numbers: np.ndarray) -> _Fields:
    """Return numbers as differences from the smallest one."""
    least = int(numbers.min())
    return _Fields(numbers - least, _bit_length(numbers - least), least)


def _multiplier_fields(shifts: np.ndarray, mantissas: np.ndarray) -> _Fields:
    """Return shift and upper 24 bits of each mantissa as one number, rising with the scale."""
    numbers = shifts << 23 | mantissas >> LOW_BITS & 0x7FFFFF
    if (numbers == numbers[0]).all():
        return _Fields(numbers * 0, 0, int(numbers[0]))
    numbers -= (least := int(numbers.min()) >> 16) << 16
    return _Fields(numbers, _bit_length(numbers), least)


def _bit_length(values: np.ndarray) -> int:
    return int(values.max()).bit_length()
