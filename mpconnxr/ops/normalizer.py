"""normalizer: each row divided by its norm; a row whose norm is 0 stays.

    MAX (0)  out = x / max(x)    L1 (1)  out = x / sum(|x|)    L2 (2)  out = x / sqrt(sum(x * x))

Serves Normalizer (all opsets).

    x, out  float32 (rows, n); may be the same memory
    params  norm, rows, n
Raises ModelError. A step allocates only boxed floats.
"""

import math

_BLOCK = 32  # sums run in blocks, for single floats
_LEAST = -3.4028234663852886e38


def prepare(node):
    node.expect(1, 1, 3)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("float32", x, out)
    norm, rows, n = node.extents(0, 3)
    node.require(norm < 3 and rows * n == x.nelem == out.nelem, "norm or sizes")
    step = _Normalizer(x.data, out.data, n)
    step.norm = (step.largest, step.l1, step.l2)[norm]
    return (rows, step.step) if n else (0, None)


class _Normalizer:
    """The extent is rows."""

    def __init__(self, x, out, n):
        self.x, self.out, self.n = x, out, n

    def step(self, lo, hi):
        x, out = self.x, self.out
        while lo < hi:
            i, end = lo * self.n, lo * self.n + self.n
            norm = self.norm(i, end)
            while i < end:
                out[i] = x[i] / norm if norm else x[i]
                i += 1
            lo += 1

    def largest(self, i, end):
        most = _LEAST
        while i < end:
            if self.x[i] > most:
                most = self.x[i]
            i += 1
        return most

    def l1(self, i, end):
        total = 0.0
        while i < end:
            stop = min(i + _BLOCK, end)
            part = 0.0
            while i < stop:
                part += abs(self.x[i])
                i += 1
            total += part
        return total

    def l2(self, i, end):
        total = 0.0
        while i < end:
            stop = min(i + _BLOCK, end)
            part = 0.0
            while i < stop:
                part += self.x[i] * self.x[i]
                i += 1
            total += part
        return math.sqrt(total) if total - total == 0 else total
