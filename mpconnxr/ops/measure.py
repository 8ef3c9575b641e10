"""measure: set run-time dims to elements of a tensor.

Serves operators whose output shape is such a tensor (ConstantOfShape, Expand, TopK).

    x        int32 or int64
Raises ModelError, and InputError for an element outside of 0 .. the dim's bound. A step allocates
integers.
"""

# params
_PAIRS = const(0)  # [*] pairs: index of an element of x, run-time dim


def prepare(node):
    n = len(node.params) // 2
    node.expect(1, 0, 2 * n)
    x = node.inputs[0]
    node.require(x.dtype in ("int32", "int64"), "dtype " + x.dtype)
    measure = _Measure(x.data)
    for k in range(n):
        node.require(0 <= node.params[2 * k] < x.nelem, "index of an element")
        measure.pairs.append((node.params[2 * k], node.dim(2 * k + 1)))
    return n, measure.step


class _Measure:
    def __init__(self, x):
        self.x, self.pairs = x, []

    def step(self, lo, hi):
        for place, dim in self.pairs:
            dim.set(self.x[place])
