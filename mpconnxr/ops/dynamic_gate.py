"""dynamic_gate: integers as reals, times a gate of these, quantized by their own range.

    v = x[i, c] * scale[c] + offset[c]
    y, y_scale, y_zero = DynamicQuantizeLinear(v * s(v)),    s(-v) = 1 - s(v)

Serves Gelu, FastGelu and QuickGelu between an integer product of which a run decides the scale
and DynamicQuantizeLinear.

    x        int32 (.., channels), below 2**bits in magnitude
    scale, offset  float32: one, or one a channel
    table    int32: four words for each eighth of v from 0 to where s is 1: see loops/fixed
    y        uint8, as x;  y_scale  float32, one item;  y_zero  uint8, one item
    scratch  int32: an item for each of x; then int32: two words a channel and the table; then
             float32, three items
All is fixed point: v * s(v) is within 2**-18 of itself, or 2**-24 of the most that v can be. The
extent is 1. Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..blocks import block
from ..loops.fixed import _EIGHTHS, _UNIT_EXPONENT
from ._fixed import Levels

# params
_CHANNELS = const(0)
_BITS = const(1)
_N_PARAMS = const(2)

STREAMS = (1, 2)
_MOST_EIGHTHS = 128


def prepare(node):
    node.expect(4, 3, _N_PARAMS, 3)
    x, scale, offset, table = node.inputs
    values, words, cells = node.scratch
    node.expect_dtype("int32", x, table, words)
    node.expect_dtype("float32", scale, offset)
    channels, bits = node.extents(0, _N_PARAMS)
    node.require(0 < channels and x.nelem % channels == 0 and 0 < bits < 32, "channels or bits")
    node.require(scale.nelem in (1, channels) and offset.nelem in (1, channels), "factors")
    node.require(0 < table.nelem <= 4 * _MOST_EIGHTHS and table.nelem % 4 == 0, "table")
    node.require(words.nelem == 2 * channels + table.nelem, "scratch")
    node.require(x.nelem == values.nelem, "sizes differ")
    return 1, _Gate(node, channels, bits).step


class _Gate:
    def __init__(self, node, channels, bits):
        x, scale, offset, table = node.inputs
        values, words, cells = node.scratch
        self.p = p = block(
            "fixed.channels",
            start=0,
            end=x.nelem,
            channels=channels,
            channel=0,
            bits=bits,
            unit_exponent=0,
            largest=0,
            smallest=0,
            elements=x.nelem,
            eighths=table.nelem // 4,
            scale_stride=int(scale.nelem > 1),
            offset_stride=int(offset.nelem > 1),
        )
        loops = forms.get("fixed")
        self.channels, self.gates = loops.channels, loops.gates
        self.copy = forms.get("move").copy32
        self.x, self.scale, self.offset = x.view("i"), scale.view("i"), offset.view("i")
        self.words, self.table = words.view("i"), table.view("i")
        self.of_table = block(
            "move",
            start=0,
            end=1,
            rows=1,
            columns=table.nelem,
            x_plane_stride=0,
            x_row_stride=0,
            x_column_stride=1,
            out_plane_stride=0,
            out_row_stride=0,
            out_column_stride=1,
            x_start=0,
            out_start=2 * channels,
        )
        self.levels = Levels(node, values, cells, memoryview(p)[_UNIT_EXPONENT:_EIGHTHS])
        self.values = values.view("i")

    def step(self, lo, hi):
        self._copy(self.table, self.words)
        self.channels(self.scale, self.offset, self.words, self.p)
        self.gates(self.x, self.words, self.values, self.p)
        self.levels.finish()

    def _copy(self, table, words):
        self.copy(table, table, words, self.of_table)
