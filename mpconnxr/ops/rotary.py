"""rotary: pairs of a head's numbers, turned by the angles of their row.

    out[b, h, r, i]        = x[b, h, r, i] * cos[b, r, i] - x[b, h, r, i + n] * sin[b, r, i]
    out[b, h, r, i + n]    = x[b, h, r, i] * sin[b, r, i] + x[b, h, r, i + n] * cos[b, r, i]

for pairs i < n, or of neighbours; numbers behind the pairs stay. Serves RotaryEmbedding.

    x, out   float32, wherever strides say; the numbers of a head lie side by side
    angles   float32, of each row the cosines of its pairs, then their sines
Each result is within 2**-23 of the larger one of its pair, times that of cosine and sine. A step
allocates nothing unless values are not finite. Raises ModelError.
"""

from .. import forms
from ..parameters import block

# params
_BATCH = const(0)
_HEADS = const(1)
_LENGTH = const(2)  # rows
_PAIRS = const(3)
_WIDTH = const(4)  # numbers of a head
_INTERLEAVED = const(5)  # flag: pairs are neighbours
_X_STRIDES = const(6)  # [batch, head, row]
_OUT_STRIDES = const(9)  # [batch, head, row]
_ANGLE_STRIDES = const(12)  # [batch, row]
_N_PARAMS = const(14)


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    x, angles, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, angles, out)
    e = node.extents(0, _N_PARAMS)
    batch, heads, rows, pairs, width, interleaved = e[:_X_STRIDES]
    node.require(batch * heads * rows * width == out.nelem, "output size")
    if out.nelem == 0:
        return 0, None
    node.require(0 < pairs and 2 * pairs <= width and interleaved < 2, "pairs")
    last = batch - 1, heads - 1, rows - 1
    for t, first in ((x, _X_STRIDES), (out, _OUT_STRIDES)):
        end = sum([last[i] * e[first + i] for i in range(3)]) + width
        node.require(end <= t.nelem, "strides")
    end = last[0] * e[_ANGLE_STRIDES] + last[2] * e[_ANGLE_STRIDES + 1] + 2 * pairs
    node.require(end <= angles.nelem, "angles")
    apart = (1, 2) if interleaved else (pairs, 1)
    p = [0, 0, 0, heads, rows, pairs, width] + e[_X_STRIDES:_OUT_STRIDES]
    p += list(apart) + e[_OUT_STRIDES:] + [pairs]
    return batch * heads * rows, _Rotary(x.view("i"), angles.view("i"), out.view("i"), p).step


class _Rotary:
    """The extent: batches x heads x rows."""

    def __init__(self, x, angles, out, p):
        self.x, self.angles, self.out, self.p = x, angles, out, block(*p)
        loops = forms.get("rotary")
        self.turn, self.finite = loops.turn, loops.finite
        self.needs = [forms.later("rotary_special", "turn"), self.p, x, angles, out]

    def step(self, lo, hi):
        p = self.p
        p[0] = lo
        p[1] = hi
        self.turn(self.x, self.angles, self.out, p)
        self.finite(p, self.needs)
