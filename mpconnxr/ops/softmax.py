"""softmax: exponentials along an axis, scaled to a sum of one.

    softmax      out[o, k, i] = exp(x[o, k, i] - m) / sum over j of exp(x[o, j, i] - m)
    log_softmax  out[o, k, i] = x[o, k, i] - m - log(the same sum)
    hardmax      out[o, k, i] = 1 where x[o, k, i] is the first largest, else 0

where m is the largest x[o, j, i]. Serves Softmax, LogSoftmax and Hardmax (all opsets).

    x, out   float32 or float64 (outer, n, inner); may share memory

Softmax of float32 lines of up to 32767 elements is computed in integers: the same bits in every
form, within 1e-6 of the exact value where that is at least 2**-125, and nothing is allocated where
viper runs. Other steps allocate boxed floats. Raises ModelError.
"""

from .. import forms
from ..blocks import block

# params
_OP = const(0)  # 0 softmax, 1 log_softmax, 2 hardmax
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_N_PARAMS = const(4)

CALLS = True

_MOST = 0x7FFF  # elements of a line that is computed in integers


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    op, outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(op < 3, "operation")
    node.require(outer * n * inner == x.nelem == out.nelem, "sizes")
    if out.nelem == 0:
        return
    # A line is read before it is written; with an inner dim, lines interleave.
    node.over(out, x, 0 if inner == 1 else x.nbytes // outer)
    if op == 0 and x.dtype == "float32" and 0 < n <= _MOST:
        from ._softmax_bits import emit

        return emit(calls, calls.place(x, "i"), calls.place(out, "i"), (outer, n, inner))
    loops, x, out = forms.get("softmax"), calls.place(x), calls.place(out)
    loop = (loops.softmax, loops.log_softmax, loops.hardmax)[op]
    for line, line_end in calls.parts(outer * inner, n):
        p = block("softmax", line=line, line_end=line_end, length=n, inner=inner)
        calls.call(loop, x, None, out, p)
