"""numbers: integer parameters as a tensor.

Serves Shape, Size and computations on them where the shape is known only at run time: the
parameters are then expressions of run-time dims.

    out      int32 or int64, n elements
Raises ModelError. A step allocates nothing.
"""

# params
_ELEMENTS = const(0)  # [*] any


def prepare(node):
    n = len(node.params)
    node.expect(0, 1, n)
    out = node.outputs[0]
    node.require(out.dtype in ("int32", "int64") and out.nelem == n, "output")
    return n, _Numbers(node.params, out.data).step


class _Numbers:
    def __init__(self, params, out):
        self.params, self.out = params, out

    def step(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.params[lo]
            lo += 1
