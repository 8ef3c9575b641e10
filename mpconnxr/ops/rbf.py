"""rbf: radial basis functions, out[n, v] = exp(-gamma * sum over f of (x[n, f] - w[v, f]) ** 2).

Serves SVMClassifier and SVMRegressor (all opsets) with the kernel RBF.

    x  float32 (N, F);  w  float32 (V, F);  out  float32 (N, V)
    params  N, V, F, the bits of gamma as float32
Raises ModelError. A step allocates only boxed floats.
"""

import struct

from ._float_math import exp

_BLOCK = 32  # sums run in blocks, for single floats


def prepare(node):
    node.expect(2, 1, 4)
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, w, out)
    n, n_vectors, n_features = node.extents(0, 3)
    sizes = n * n_features == x.nelem and n_vectors * n_features == w.nelem
    node.require(sizes and n * n_vectors == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    step = _Rbf(x.data, w.data, out.data)
    step.n_vectors, step.n_features = n_vectors, n_features
    step.gamma = struct.unpack("<f", struct.pack("<i", node.params[3]))[0]
    return out.nelem, step.step


class _Rbf:
    """The extent is samples x vectors."""

    def __init__(self, x, w, out):
        self.x, self.w, self.out = x, w, out

    def step(self, lo, hi):
        n_vectors, n = self.n_vectors, self.n_features
        while lo < hi:
            distance = self._distance(lo // n_vectors * n, lo % n_vectors * n)
            self.out[lo] = exp(-self.gamma * distance)
            lo += 1

    def _distance(self, i, j):
        """Square of the distance between a row of x and one of w."""
        x, w = self.x, self.w
        end = i + self.n_features
        total = 0.0
        while i < end:
            stop = min(i + _BLOCK, end)
            part = 0.0
            while i < stop:
                d = x[i] - w[j]
                part += d * d
                i += 1
                j += 1
            total += part
        return total
