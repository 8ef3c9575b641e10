"""qdeviation: rows of quantized bytes without their mean, by the root of their quantized variance.

    variance[r] = limited(round(mean of (x[r, i] - mean[r]) ** 2 * scale) + zero point)
    out[r, i] = limited(round((x[r, i] - mean[r]) * factor[variance[r]]) + zy)

all in steps of x, or of out. Serves the norms of exporters that write their steps, where a
quantizer has quantized the variance, and the root of it is a table of its bytes.

    x, out   both uint8 or both int8 (rows, n); may be the same memory
    factors  int32 (256), one for each byte of the variance: see loops/qdeviation
    scratch  int32: four words for each row of a call
Sums are exact; what is rounded is within 2**-13 steps times a factor of the real result. Where the
root is 0, what is not the mean is at the ends of its range. Raises ModelError. A step allocates
nothing.
"""

from .. import forms
from ..parameters import block

# params
_LINES = const(0)
_N = const(1)
_PIECE = const(2)  # rows a call
_SCALE = const(3)  # [bits, shift] of n * n variances, 30 bits; bits behind the point of products
_ZERO = const(5)  # of the variance, as unsigned
_ZY = const(6)  # as unsigned
_N_PARAMS = const(7)

STREAMS = (1,)
_MOST = 0x7FFF  # items of a row
_TABLE = 256


def prepare(node):
    node.expect(2, 1, _N_PARAMS, 1)
    (x, factors), out, scratch = node.inputs, node.outputs[0], node.scratch[0]
    node.over(out, x)
    node.expect_dtype(x.dtype, out)
    node.expect_dtype("int32", factors, scratch)
    node.require(x.dtype in ("uint8", "int8"), "dtype " + x.dtype)
    rows, n, piece = node.extents(0, _SCALE)
    bits, (shift, zero, zy) = node.params[_SCALE], node.extents(_SCALE + 1, 3)
    node.require(rows * n == x.nelem == out.nelem, "sizes")
    if rows == 0:
        return 0, None
    node.require(0 < n <= _MOST and piece > 0 and factors.nelem == _TABLE, "sizes of rows")
    node.require(4 * piece <= scratch.nelem, "scratch")
    node.require(0 <= bits < 1 << 30 and shift < 128, "scale")
    node.require(max(zero, zy) < 256, "zero points")
    step = _Deviation(x.view("B"), factors.view("i"), scratch.view("i"), out.view("B"))
    flip = 128 if x.dtype == "int8" else 0
    step.p = block(0, 0, n, flip, bits, shift, zero)
    step.q = block(0, 0, n, flip, zy)
    step.piece = piece
    return rows, step.step


class _Deviation:
    """The extent is rows."""

    def __init__(self, x, factors, scratch, out):
        self.x, self.factors, self.scratch, self.out = x, factors, scratch, out
        loops = forms.get("qdeviation")
        self.spread, self.deviations = loops.spread8, loops.deviations8

    def step(self, lo, hi):
        p, q = self.p, self.q
        while lo < hi:
            p[0] = q[0] = lo
            lo = min(lo + self.piece, hi)
            p[1] = q[1] = lo
            self.spread(self.x, self.factors, self.scratch, p)
            self.deviations(self.x, self.scratch, self.out, q)
