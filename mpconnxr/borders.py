"""What a file says of its inputs and outputs: the grid of their integers, and images.

Chunk 5 holds, for each input and then each output, a float32 scale (0: none) and an int32
zero_point: an integer q stands for (q - zero_point) * scale. Chunk 6 holds a record of an image
for each input that takes one; see images.py.
"""

import struct

from .errors import InputError, ModelError
from .feed import Writer, write_all

_GRID_NBYTES = 8
LARGEST = 1e30  # of a scale: what is scaled stays finite in single floats


def attach(tensors, grids):
    """Gives the tensors their scale and zero_point. grids: the chunk. Raises ModelError."""
    if len(grids) != _GRID_NBYTES * len(tensors):
        raise ModelError("the grids of inputs and outputs have a wrong size")
    for i, t in enumerate(tensors):
        scale, zero_point = struct.unpack_from("<fi", grids, _GRID_NBYTES * i)
        if not 0.0 <= scale < LARGEST:  # or nan
            raise ModelError("the scale of an input or output is not valid")
        if scale > 0.0:
            t.scale, t.zero_point = scale, zero_point


def quantize(t, x):
    """Fills t with the integers that stand for the numbers x; see Tensor.quantize."""
    _require(t)
    write_all(_Quantizer(t), x)


def dequantize(t):
    """A new list of the numbers that the integers in t stand for."""
    _require(t)
    return [(q - t.zero_point) * t.scale for q in t.data]


def _require(t):
    if t.scale is None:
        raise InputError("{}: no scale is known for it".format(t.name))


class _Quantizer(Writer):
    """Writes the integers that stand for the numbers, as QuantizeLinear does."""

    def put(self, value, is_pattern=False):
        try:
            q = integer_of(value / self.t.scale, self.t.zero_point, self.limits)
        except (TypeError, ValueError):  # no number, or nan
            raise InputError("{}: {!r} is no number".format(self.t.name, value))
        Writer.put(self, q)


def integer_of(x, zero_point, limits):
    """round(x) + zero_point, half to even, within the limits. Raises ValueError for nan."""
    low, high = limits[0] - zero_point, limits[1] - zero_point
    return zero_point + (low if x < low else high if x > high else _rounded(x))


def _rounded(x):
    q = int(x)
    rest = x - q
    if rest > 0.5 or rest == 0.5 and q & 1:
        return q + 1
    if rest < -0.5 or rest == -0.5 and q & 1:
        return q - 1
    return q
