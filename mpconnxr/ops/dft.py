"""dft: discrete Fourier transform along an axis.

    out[o, k, i] = sum over j < length of x[o, j, i] * exp(sign * 2 pi sqrt(-1) * j * k / length)

sign is -1 for the forward and 1 for the inverse transform. x is zero-padded. For op `inverse to
real`, x is completed from its first half: x[length - j] is the conjugate of x[j]. Serves DFT and
STFT (all opsets), also inverse and one-sided.

    x      float32 or float64 (outer, n, inner, parts); parts: 1 real, 2 complex
    table  (length, 2): cosine and sine of 2 pi j / length; int32 with 28 fraction bits plus BIAS
           for float32, or float64
    out    x's dtype (outer, n_out, inner, 2); (outer, n_out, inner, 1) to real
    scratch  table's dtype, 4 * length elements

An inverse is divided by length. Factors of two are split off (length * log2 operations for a power
of two); the remaining factor m takes length * m. float32 is computed in integers (see
loops/fourier): there m is at most 16,383, and a line with inf or NaN gives NaN. Raises ModelError.
A step of float32 allocates nothing where viper runs, one of float64 boxed floats.
"""

from .. import forms
from ..blocks import block
from ..parameters import BIAS

CALLS = True
PROVED = (1,)

# params
_OP = const(0)  # 0 forward, 1 inverse, 2 inverse to real
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_PARTS = const(4)  # of an element: 1 real, 2 complex
_LENGTH = const(5)
_N_OUT = const(6)
_N_PARAMS = const(7)

_ONE = 1 << 28
_MOST_OF_BOTH = 379625064  # |cosine| + |sine|: sqrt(2) plus rounding
_MOST_ODD = 16383  # products whose sum cannot overflow


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS, 1)
    x, table, out, work = node.inputs + node.outputs + node.scratch
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    is_wide = x.dtype == "float64"
    node.expect_dtype(x.dtype, out)
    node.expect_dtype("float64" if is_wide else "int32", table, work)
    op, outer, n, inner, parts, length, n_out = node.extents(0, _N_PARAMS)
    node.require(op < 3 and parts in (1, 2) and length > 0 and n_out <= length, "params")
    node.require(outer * n * inner * parts == x.nelem, "input size")
    node.require(outer * n_out * inner * (1 if op == 2 else 2) == out.nelem, "output size")
    node.require(2 * length <= table.nelem and 4 * length <= work.nelem, "table or scratch size")
    if out.nelem == 0:
        return
    factor, bits = 0, 0
    if is_wide:
        loops, code = forms.get("dft"), None
        load, transform, store = loops.load, loops.transform, loops.store
    else:
        loops, code = forms.get("fourier"), "i"
        load, transform, store = loops.load32, loops.transform32, loops.store32
        _check_table(node, table, length)
        if op and length > 1:
            while length >> bits > 1:
                bits += 1
            factor = ((_ONE << bits) + length // 2) // length
    x, table, work = calls.place(x, code), calls.place(table), calls.place(work)
    out = calls.place(out, code)
    for line in calls.repeat(outer * inner):
        p = block(
            "fourier",
            line=line,
            result_start=0,
            transform=op,
            x_length=n,
            inner=inner,
            parts=parts,
            length=length,
            out_length=n_out,
            exponent=0,
            is_nan=0,
            factor=factor,
            factor_shift=bits,
        )
        calls.call(load, x, table, work, p)
        calls.call(transform, x, table, work, None)
        calls.call(store, work, table, out, None)


def _check_table(node, table, length):
    """Check that the table's values cannot overflow sums of integers."""
    odd = length
    while odd & 1 == 0:
        odd >>= 1
    node.require(odd <= _MOST_ODD, "length")
    for i in range(0, 2 * length, 2):
        size = abs(table.data[i] - BIAS) + abs(table.data[i + 1] - BIAS)
        node.require(size <= _MOST_OF_BOTH, "table")
