"""qdeviation: rows of quantized bytes minus their mean, by the root of a quantized variance.

    variance[r] = saturate(round(mean of (x[r, i] - mean[r]) ** 2 * scale) + zero point)
    out[r, i] = saturate(round((x[r, i] - mean[r]) * factor[variance[r]]) + zy)

in units of x's or out's scale. Serves normalizations that an exporter writes as single operators,
with a quantizer after the variance: its root is then a table over 256 bytes.

    x, out   both uint8 or both int8 (rows, n); may share memory
    factors  int32 (256), one for each byte of the variance: see loops/qdeviation
    scratch  int32: four words for each row of a call
Sums are exact; a rounded value is within 2**-13 steps times a factor of the real result. Where the
root is 0, elements that differ from the mean saturate. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_LINES = const(0)
_N = const(1)
_PIECE = const(2)  # rows per call
_SCALE = const(3)  # [bits, shift] scale of n * n * variance, 30 bits; fraction bits of products
_ZERO = const(5)  # zero point of the variance, as unsigned
_ZY = const(6)  # as unsigned
_N_PARAMS = const(7)

CALLS = True
STREAMS = (1,)
_MOST = 0x7FFF  # elements of a row
_WORK = 512  # least work of a row: calls.parts() then takes 16 rows at once, as the converter does
_TABLE = 256


def prepare(node, calls):
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
        return
    node.require(0 < n <= _MOST and piece > 0 and factors.nelem == _TABLE, "sizes of rows")
    node.require(4 * piece <= scratch.nelem, "scratch")
    node.require(0 <= bits < 1 << 30 and shift < 128, "scale")
    node.require(max(zero, zy) < 256, "zero points")
    flip = 128 if x.dtype == "int8" else 0
    x, factors = calls.place(x, "B"), calls.place(factors, "i")
    scratch, out = calls.place(scratch, "i"), calls.place(out, "B")
    loops = forms.get("qdeviation")
    for first, end in calls.parts(rows, max(n, _WORK)):
        for at in range(0, end - first, piece):
            row, row_end = first + at, first + min(at + piece, end - first)
            p = block(
                "qdeviation.spread8",
                row=row,
                row_end=row_end,
                columns=n,
                flip=flip,
                multiplier=bits,
                shift=shift,
                variance_zero_point=zero,
            )
            calls.call(loops.spread8, x, factors, scratch, p)
            p = block(
                "qdeviation.deviations8",
                row=row,
                row_end=row_end,
                columns=n,
                flip=flip,
                zero_point=zy,
            )
            calls.call(loops.deviations8, x, scratch, out, p)
