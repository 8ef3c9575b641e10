"""distances: out[n, v] = scale * sum over f of (x[n, f] - w[v, f]) ** 2.

Serves SVMClassifier and SVMRegressor with the kernel RBF (all opsets) and com.microsoft's CDist.

    x      float32 (N, F);  w  float32 (V, F);  out  float32 (N, V)
    scratch  float32, AT_ONCE * F items: differences of so many vectors, then their sums
Differences and the product are rounded to nearest, ties to even; the sum once, as loops/sums does.
Raises ModelError. Where viper is a step allocates nothing.
"""

import struct
from array import array

from .. import forms
from ..parameters import block

# params
_N = const(0)
_VECTORS = const(1)
_FEATURES = const(2)
_AT_ONCE = const(3)
_SCALE = const(4)  # float
_N_PARAMS = const(5)

STREAMS = (0, 1)


def prepare(node):
    node.expect(2, 1, _N_PARAMS, 1)
    x, w, out, work = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", x, w, out, work)
    n, vectors, features, at_once = node.extents(0, _SCALE)
    node.require(n * features == x.nelem and vectors * features == w.nelem, "sizes")
    node.require(n * vectors == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    node.require(features > 0 and at_once > 0, "nothing to add up")
    node.require(at_once * features <= work.nelem, "scratch size")
    step = _Distances(x.data, w.data, out.data, work)
    step.scale = array("f", struct.pack("<i", node.params[_SCALE]))
    step.sizes(vectors, features, at_once)
    return n, step.step


class _Distances:
    """The extent is samples."""

    def __init__(self, x, w, out, work):
        self.x, self.w, self.out, self.work, self.words = x, w, out, work.data, work.view("i")
        self.subtract = forms.get("add").add32
        self.add_up = forms.get("sums").sum32
        self.multiply = forms.get("mul").mul32

    def sizes(self, vectors, n, at_once):
        self.vectors, self.at_once = vectors, at_once
        beyond = 0
        while n >> 15 + beyond:
            beyond += 1
        self.p = block(0, 0, 1, 0, n, 1, 0, 0, n, 1)  # differences of rows
        self.q = block(0, 0, n, 1, 2, beyond)
        self.r = block(0, 0, 1, 0, 0, 0, 0, 1, 0, 0)

    def step(self, lo, hi):
        p = self.p
        while lo < hi:
            p[0] = lo * p[8]
            first = 0
            while first < self.vectors:
                n = min(self.at_once, self.vectors - first)
                p[3] = first * p[8]
                self._some(lo * self.vectors + first, n)
                first += n
            lo += 1

    def _some(self, k, n):
        """n items of out from k on. A sum takes the place of an item that was read before."""
        self.p[7] = self.q[1] = self.r[8] = n
        self.r[6] = k
        self.subtract(self.x, self.w, self.work, self.p)
        self.add_up(self.words, self.words, self.words, self.q)
        self.multiply(self.work, self.scale, self.out, self.r)
