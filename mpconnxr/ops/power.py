"""power: out = x ** y, of float32, on the bits. See loops/power for the formulas.

Serves Pow (all opsets) where x and y have the shape of the output, or one number.

    x, y  float32, of out's size or 1;  out  float32; may be the same memory as what has its size
Within 1e-6 of the exact value, but where that is denormal: there a last bit more. 0, inf and NaN
as C's pow; one NaN, 0x7FC00000. Raises ModelError. A step allocates nothing where viper is.
"""

from .. import forms
from ..parameters import block

# params: none

STREAMS = (0, 1)
_CHUNK = 64  # items of a call, with two words of heap each
_QUARTERS = (  # of 2**t, the coefficients from t**4 on
    22003,
    463975,
    8061249,
    93032566,
    536870913,
    26166,
    551762,
    9586495,
    110634990,
    638450710,
    31117,
    656159,
    11400328,
    131567917,
    759250127,
    37005,
    780309,
    13557351,
    156461503,
    902905653,
)


def prepare(node):
    node.expect(2, 1, 0)
    x, y, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, y, out)
    n = out.nelem
    for t in (x, y):
        node.require(t.nelem in (1, n), "sizes differ")
        if t.nelem == n:
            node.over(out, t)
    steps = [0 if t.nelem == 1 else 1 for t in (x, y)]
    p = block(0, 0, *steps, *_QUARTERS, *[0] * (2 * min(n, _CHUNK)))
    return n, _Power(x.view("i"), y.view("i"), out.view("i"), p).step


class _Power:
    """In chunks: logarithms, then powers."""

    def __init__(self, x, y, out, p):
        self.x, self.y, self.out, self.p = x, y, out, p
        loops = forms.get("power")
        self.logs, self.powers = loops.logs32, loops.powers32

    def step(self, lo, hi):
        p = self.p
        while lo < hi:
            p[0] = lo
            p[1] = lo + _CHUNK if lo + _CHUNK < hi else hi
            self.logs(self.x, self.x, p, p)
            self.powers(self.x, self.y, self.out, p)
            lo += _CHUNK
