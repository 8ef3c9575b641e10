"""block_distances: squared distances in fixed point, or exponentials of them.

    out[n, v] = scale * sum over f of (x[n, f] - w[v, f]) ** 2
    or exp(-decay * the sum)

Serves SVMClassifier and SVMRegressor with the kernel RBF (all opsets), com.microsoft's CDist,
Scans of distances, and Exp of these, where w is known.

    x    float32 (N, F);  out  float32 (N, V)
    w    int32 (V, F): the vectors times 2**(152 - exponent), + 2**26
    scratch  int32: a row of x in these units, or in those of its largest number if that is more
         (F + 2 items, see loops/units), and sums of up to 128 vectors (three items each)
The sum of squares is exact, and rounded once; so is the product, if scale is not 1. Exponentials
are within 1e-6 of the exact value (see loops/decay). A row with inf or NaN gives that.
Raises ModelError. A step allocates nothing where viper is.
"""

import struct
from array import array

from .. import forms
from ..parameters import block

# params
_N = const(0)
_VECTORS = const(1)
_FEATURES = const(2)
_EXPONENT = const(3)  # of the largest number of w, biased
_SCALE = const(4)  # float
_DECAY = const(5)  # [factor, shift] decay / ln(2) = factor / 2 ** shift, of 30 bits; 0: none
_N_PARAMS = const(7)

STREAMS = (0, 1)
_MOST_FEATURES = 0xFFFF
_CHUNK = 128  # vectors of one call
_ONE = 0x3F800000
_MOST_SHIFT = 200


def prepare(node):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w, out, work = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, out)
    node.expect_dtype("int32", w, work)
    n, vectors, features, exponent = node.extents(0, _SCALE)
    node.require(n * features == x.nelem and vectors * features == w.nelem, "sizes")
    node.require(n * vectors == out.nelem, "sizes")
    node.require(0 < exponent < 255 and features <= _MOST_FEATURES, "exponent or features")
    if out.nelem == 0:
        return 0, None
    words = features + 2 + 3 * min(vectors, _CHUNK)
    node.require(features > 0 and words <= work.nelem, "scratch size")
    factor, [shift] = node.params[_DECAY], node.extents(_DECAY + 1, 1)
    node.require(factor == 0 or factor >> 29 == 1 and shift <= _MOST_SHIFT, "decay")
    step = _Distances(x.view("i"), w.view("i"), out, work.view("i"))
    scale = node.params[_SCALE]
    if scale != _ONE:
        step.set_scale(struct.pack("<i", scale))
    if factor:
        node.require(scale == _ONE, "a scale and a decay")
        step.set_decay(factor, shift)
    step.sizes(vectors, features, exponent)
    return n, step.step


class _Distances:
    """The extent is samples."""

    multiply = decay = None

    def __init__(self, x, w, out, work):
        self.x, self.w, self.work = x, w, work
        self.out, self.floats = out.view("i"), out.data
        self.units = forms.get("units").units
        loops = forms.get("squares")
        self.totals, self.squares = loops.totals, loops.squares

    def set_scale(self, scale):
        self.multiply, self.scale = forms.get("mul").mul32, array("f", scale)

    def set_decay(self, factor, shift):
        from ._softmax_bits import POWERS

        self.decay, self.powers = forms.get("decay").decay32, array("i", POWERS)
        self.d = block(0, 0, factor, shift)

    def sizes(self, vectors, n, exponent):
        self.vectors = vectors
        self.p = block(0, n, exponent)
        self.q = block(0, n, 0, 0)
        self.r = block(0, 0, 1, 0, 0, 0, 0, 1, 0, 0)

    def step(self, lo, hi):
        r = self.r
        r[0] = r[6] = lo * self.vectors
        r[8] = (hi - lo) * self.vectors
        while lo < hi:
            self._row(lo)
            lo += 1
        if self.multiply and r[8]:
            self.multiply(self.floats, self.scale, self.floats, r)
        if self.decay:
            self.d[0] = r[0]
            self.d[1] = r[0] + r[8]
            self.decay(self.out, self.powers, self.out, self.d)

    def _row(self, i):
        p, q = self.p, self.q
        p[0] = i * p[1]
        self.units(self.x, self.w, self.work, p)
        q[0] = 0
        q[2] = i * self.vectors
        end = q[2] + self.vectors
        while q[2] < end:
            q[3] = min(q[2] + _CHUNK, end)
            self.totals(self.work, self.w, self.work, q)
            self.squares(self.work, self.w, self.out, q)
            q[0] += _CHUNK * q[1]
            q[2] = q[3]
