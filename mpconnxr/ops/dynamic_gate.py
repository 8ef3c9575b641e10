"""dynamic_gate: scaled integers times a gate of them, quantized by their own range.

    v = x[i, c] * scale[c] + offset[c]
    y, y_scale, y_zero = DynamicQuantizeLinear(v * s(v)),    s(-v) = 1 - s(v)

Serves Gelu, FastGelu and QuickGelu between an integer product whose scale is known only at run
time and DynamicQuantizeLinear.

    x        int32 (.., channels), below 2**bits in magnitude
    scale, offset  float32: one element, or one per channel
    table    int32: four words for each eighth of v from 0 to where s is 1: see loops/fixed
    y        uint8, as x;  y_scale  float32, one element;  y_zero  uint8, one element
    scratch  int32, as many elements as x; int32, two words per channel, then the table; float32,
             three elements

All is computed in fixed point: v * s(v) is within 2**-18 of itself, or 2**-24 of the largest v.
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..blocks import block
from ..loops.fixed import _START, _UNIT_EXPONENT
from ._fixed import emit_copy, emit_levels, expect_levels

# params
_CHANNELS = const(0)
_BITS = const(1)
_N_PARAMS = const(2)

CALLS = True
STREAMS = (1, 2)
_MOST_EIGHTHS = 128


def prepare(node, calls):
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
    expect_levels(node, values, cells)
    p = block(
        "fixed.channels",
        x_start=0,
        x_end=0,
        mask=0x7FFFFFFF,
        infinity=0x7F800000,
        out_start=0,
        unit_exponent=0,
        elements=x.nelem,
        largest=0,
        smallest=0,
        start=0,
        end=x.nelem,
        channels=channels,
        channel=0,
        bits=bits,
        eighths=table.nelem // 4,
        scale_stride=int(scale.nelem > 1),
        offset_stride=int(offset.nelem > 1),
    )
    loops, factors = forms.get("fixed"), calls.place(words)
    emit_copy(calls, calls.place(table), factors, table.nelem, 2 * channels)
    scale, offset = calls.place(scale, "i"), calls.place(offset, "i")
    calls.call(loops.channels, scale, offset, factors, p)
    calls.call(loops.gates, calls.place(x), factors, calls.place(values), None)
    ends = calls.part(_UNIT_EXPONENT, _START)
    emit_levels(calls, node.outputs, values, cells, ends, None)
