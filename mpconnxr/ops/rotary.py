"""rotary: rotate pairs of a head's elements by the angles of their row.

    out[b, h, r, i]        = x[b, h, r, i] * cos[b, r, i] - x[b, h, r, i + n] * sin[b, r, i]
    out[b, h, r, i + n]    = x[b, h, r, i] * sin[b, r, i] + x[b, h, r, i + n] * cos[b, r, i]

for pairs i < n; if interleaved, pairs are neighbours. Elements behind the pairs are copied. Serves
RotaryEmbedding.

    x, out   float32, strided; the elements of a head are contiguous
    angles   float32, for each row the cosines of its pairs, then their sines
Each result is within 2**-23 of the larger element of its pair times the larger of cosine and sine.
A step allocates nothing unless a value is inf or NaN. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_BATCH = const(0)
_HEADS = const(1)
_LENGTH = const(2)  # rows
_PAIRS = const(3)
_WIDTH = const(4)  # elements of a head
_INTERLEAVED = const(5)  # flag: pairs are neighbours
_X_STRIDES = const(6)  # [batch, head, row]
_OUT_STRIDES = const(9)  # [batch, head, row]
_ANGLE_STRIDES = const(12)  # [batch, row]
_N_PARAMS = const(14)

CALLS = True


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    x, angles, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, angles, out)
    e = node.extents(0, _N_PARAMS)
    batch, heads, rows, pairs, width, interleaved = e[:_X_STRIDES]
    node.require(batch * heads * rows * width == out.nelem, "output size")
    if out.nelem == 0:
        return
    node.require(0 < pairs and 2 * pairs <= width and interleaved < 2, "pairs")
    last = batch - 1, heads - 1, rows - 1
    for t, first in ((x, _X_STRIDES), (out, _OUT_STRIDES)):
        end = sum([last[i] * e[first + i] for i in range(3)]) + width
        node.require(end <= t.nelem, "strides")
    end = last[0] * e[_ANGLE_STRIDES] + last[2] * e[_ANGLE_STRIDES + 1] + 2 * pairs
    node.require(end <= angles.nelem, "angles")
    loops = forms.get("rotary")
    x, angles, out = [calls.place(t, "i") for t in (x, angles, out)]
    special = [calls.later("rotary_special", "turn"), calls.part(), x, angles, out]
    for line, line_end in calls.parts(batch * heads * rows, width):
        p = block(
            "rotary",
            line=line,
            line_end=line_end,
            largest=0,
            heads=heads,
            rows=rows,
            pairs=pairs,
            columns=width,
            x_batch_stride=e[_X_STRIDES],
            x_head_stride=e[_X_STRIDES + 1],
            x_row_stride=e[_X_STRIDES + 2],
            partner_stride=1 if interleaved else pairs,
            pair_stride=2 if interleaved else 1,
            out_batch_stride=e[_OUT_STRIDES],
            out_head_stride=e[_OUT_STRIDES + 1],
            out_row_stride=e[_OUT_STRIDES + 2],
            w_batch_stride=e[_ANGLE_STRIDES],
            w_row_stride=e[_ANGLE_STRIDES + 1],
            sine_stride=pairs,
        )
        calls.call(loops.turn, x, angles, out, p)
        calls.drive(loops.finite, None, special)
