"""power: out = x ** y of float32, on the bits. See loops/power for the formulas.

Serves Pow (all opsets) where x and y have the shape of the output, or one element.

    x, y  float32, of out's size or 1;  out  float32; may share memory with an input of its size

Within 1e-6 of the exact value; denormal results may be off by one more unit in the last place. 0,
inf and NaN as in C's pow, with a single NaN, 0x7FC00000. Raises ModelError. A step allocates
nothing where viper runs.
"""

from .. import forms
from ..blocks import block

# params: none

CALLS = True
STREAMS = (0, 1)
_CHUNK = 64  # elements of a call, with two words of heap each
_QUARTERS = (  # coefficients of 2**t from t**4 on
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


def prepare(node, calls):
    node.expect(2, 1, 0)
    x, y, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, y, out)
    n = out.nelem
    for t in (x, y):
        node.require(t.nelem in (1, n), "sizes differ")
        if t.nelem == n:
            node.over(out, t)
    x_stride, y_stride = int(x.nelem > 1), int(y.nelem > 1)
    loops, logarithms = forms.get("power"), [0] * (2 * min(n, _CHUNK))
    x, y, out = calls.place(x, "i"), calls.place(y, "i"), calls.place(out, "i")
    for start, size in calls.pieces(n, _CHUNK):
        p = block(
            "power",
            start=start,
            end=start + size,
            x_stride=x_stride,
            w_stride=y_stride,
            coefficients=_QUARTERS,
            logarithms=logarithms,
        )
        calls.call(loops.logs32, x, None, calls.hold(calls.part()), p)
        calls.call(loops.powers32, x, y, out, None)
