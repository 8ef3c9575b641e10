"""qnormalize: rows of quantized bytes, each normalized to mean 0 and variance 1.

    out[r, i] = saturate(round((x[r, i] - mean[r]) / deviation[r] * scale[i] + bias[i]))
    deviation[r] = sqrt(variance[r] + epsilon)

in units of x's or out's scale; the factors include out's scale and zero point. A row of equal
elements gives bias. Serves LayerNormalization between DequantizeLinear and QuantizeLinear.

    x, out   both uint8 or both int8 (rows, n); may share memory
    factors  int32 (n, 2): see loops/qnormalize, also for a and b
    scratch  int32: two words for each of the n elements, and four for each row of a call
Sums are exact; a rounded value is within 2**-13 steps of the real result where that is in range.
Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_LINES = const(0)
_N = const(1)
_PIECE = const(2)  # rows per call
_SHIFT = const(3)  # 37 - a - b
_EPSILON = const(4)  # [bits, exponent] 30 bits, the highest set, and 1024 + exponent; or 0 and 994
_BITS = const(6)  # b: bits of n - 1
_INVERSE = const(7)  # [bits, before, after] 16 bits of 1 / n, and shifts
_POINT = const(10)  # fraction bits of products with the factors
_N_PARAMS = const(11)

CALLS = True
STREAMS = (1,)
_MOST = 0x7FFF  # elements of a row
_WORK = 512  # least work of a row: calls.parts() then takes 16 rows at once, as the converter does
_ONE = 1 << 29
_ZERO = 994  # the exponent of 0: below that of any variance


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS, 1)
    (x, factors), out, scratch = node.inputs, node.outputs[0], node.scratch[0]
    node.over(out, x)
    node.expect_dtype(x.dtype, out)
    node.expect_dtype("int32", factors, scratch)
    node.require(x.dtype in ("uint8", "int8"), "dtype " + x.dtype)
    rows, n, piece = node.extents(0, _SHIFT)
    [shift] = node.signed(_SHIFT, 1)
    epsilon, exponent = node.params[_EPSILON], node.extents(_EPSILON + 1, 1)[0]
    bits, inverse, before, after, point = node.extents(_BITS, _N_PARAMS - _BITS)
    node.require(rows * n == x.nelem == out.nelem, "sizes")
    if rows == 0:
        return
    node.require(0 < n <= _MOST and piece > 0 and factors.nelem == 2 * n, "sizes of rows")
    node.require(2 * n + 4 * piece <= scratch.nelem, "scratch")
    node.require(abs(shift) < 32 and 896 < exponent < 1152 and point < 30, "scales")
    _check_reciprocal(node, n, bits, inverse, before, after)
    is_zero = epsilon == 0 and exponent == _ZERO
    node.require(is_zero or _ONE <= epsilon < 2 * _ONE, "epsilon")
    flip = 128 if x.dtype == "int8" else 0
    x, factors = calls.place(x, "B"), calls.place(factors)
    scratch, out = calls.place(scratch), calls.place(out, "B")
    loops = forms.get("qnormalize")
    for first, end in calls.parts(rows, max(n, _WORK)):
        for at in range(0, end - first, piece):
            row, row_end = first + at, first + min(at + piece, end - first)
            p = block(
                "qnormalize.roots8",
                row=row,
                row_end=row_end,
                columns=n,
                flip=flip,
                shift=shift,
                epsilon=epsilon,
                exponent=exponent,
                bits=bits,
                reciprocal=inverse,
                sum_shift=before,
                reciprocal_shift=after,
            )
            calls.call(loops.roots8, x, factors, scratch, p)
            p = block(
                "qnormalize.normalized8",
                row=row,
                row_end=row_end,
                columns=n,
                flip=flip,
                point=point,
            )
            calls.call(loops.normalized8, x, scratch, out, p)


def _check_reciprocal(node, n, bits, inverse, before, after):
    """Check that sum >> before, times inverse, >> after approximates a row's mean.

    It is then within n / 2 + 2**before + n / 64 of the sum, divided by n. Otherwise the sums of
    roots8 would overflow, and it would shift a negative variance without end.
    """
    node.require(bits < 16 and n - 1 >> bits == 0 and before + after == 15 + bits, "bits of n")
    node.require(inverse == (1 << 15 + bits) // n < 1 << 17, "reciprocal of n")
    is_fine = before == 0 or 4 << before <= n
    node.require(bits - 8 < before < 32 and is_fine, "shift of sums")
