"""Kernel soft_threshold: move values towards 0; values near 0 become 0.

    y = x - t where x > t;  x + t where x < -t;  else 0

Serves com.acme::SoftThreshold.

    x  float32;  t  float32, one element, not negative;  y  float32, as many as x
Raises ModelError. A step allocates only boxed floats.
"""

# params: none


def prepare(node):
    node.expect(2, 1, 0)
    x, t, y = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, t, y)
    node.require(x.nelem == y.nelem and t.nelem == 1, "sizes differ")
    node.require(t.data[0] >= 0, "threshold")
    return x.nelem, _SoftThreshold(x.data, y.data, t.data[0]).step


class _SoftThreshold:
    def __init__(self, x, y, t):
        self.x, self.y, self.t = x, y, t

    def step(self, lo, hi):
        x, y, t = self.x, self.y, self.t
        while lo < hi:
            v = x[lo]
            if v > t:
                y[lo] = v - t
            elif v < -t:
                y[lo] = v + t
            else:
                y[lo] = v if v != v else 0.0
            lo += 1
