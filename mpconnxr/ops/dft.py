"""dft: discrete Fourier transform along an axis.

    out[o, k, i] = sum over j < length of x[o, j, i] * exp(sign * 2 pi sqrt(-1) * j * k / length)

sign is -1 forward and 1 inverse; x is zero behind its end, and for op `inverse to real` it is made
whole from its first half: x[length - j] is the conjugate of x[j]. Serves DFT and STFT (all
opsets), inverse and one-sided ones, too.

    x      float32 or float64 (outer, n, inner, parts); parts: 1 real, 2 complex
    table  same dtype (length, 2): cosine and sine of 2 pi j / length
    out    same dtype (outer, n_out, inner, 2); (outer, n_out, inner, 1) to real
    scratch  same dtype, 4 * length items
An inverse is divided by length. Factors of two are split off (length * log2 operations for a power
of two); what is left, of length m, takes length * m. Raises ModelError. A step allocates only
boxed floats.
"""

from .. import forms
from ..parameters import block

# params
_OP = const(0)  # 0 forward, 1 inverse, 2 inverse to real
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_PARTS = const(4)  # of a number: 1, or 2 of a complex one
_LENGTH = const(5)
_N_OUT = const(6)
_N_PARAMS = const(7)


def prepare(node):
    node.expect(2, 1, _N_PARAMS, 1)
    x, table, out, work = node.inputs + node.outputs + node.scratch
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    node.expect_dtype(x.dtype, table, out, work)
    op, outer, n, inner, parts, length, n_out = node.extents(0, _N_PARAMS)
    node.require(op < 3 and parts in (1, 2) and length > 0 and n_out <= length, "params")
    node.require(outer * n * inner * parts == x.nelem, "input size")
    node.require(outer * n_out * inner * (1 if op == 2 else 2) == out.nelem, "output size")
    node.require(2 * length <= table.nelem and 4 * length <= work.nelem, "table or scratch size")
    if out.nelem == 0:
        return 0, None
    p = block(0, 0, op, n, inner, parts, length, n_out)
    step = _Dft(x.data, (table.data, work.data), out.data, p)
    return outer * inner, step.step


class _Dft:
    """The extent is lines: outer x inner."""

    def __init__(self, x, w, out, p):
        self.x, self.w, self.out, self.p = x, w, out, p
        loops = forms.get("dft")
        self.load, self.transform, self.store = loops.load, loops.transform, loops.store

    def step(self, lo, hi):
        p = self.p
        while lo < hi:
            p[0] = lo
            self.load(self.x, self.w[1], self.out, p)
            self.transform(self.w[0], self.w[1], self.out, p)
            self.store(self.x, self.w[1], self.out, p)
            lo += 1
