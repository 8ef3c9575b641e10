"""shape: extents of a tensor, or the number of its elements.

Serves Shape and Size (all opsets) if the converter may not compute them.

    x        any dtype
    out      int64: n extents, or 1 element
Raises ModelError. A step allocates only integers of more than 30 bits.
"""

# params, or none
_FIRST = const(0)  # first axis
_N = const(1)  # number of axes; none: the number of elements
_N_PARAMS = const(2)


def prepare(node):
    node.expect(1, 1, len(node.params))
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("int64", out)
    if len(node.params):
        node.expect(1, 1, _N_PARAMS)
        first, n = node.extents(0, _N_PARAMS)
        node.require(first + n <= len(x.shape), "axes")
        values = x.shape[first : first + n]
    else:
        values = (x.nelem,)
    node.require(out.nelem == len(values), "output size")
    return len(values), _Shape(values, out.data).step


class _Shape:
    def __init__(self, values, out):
        self.values, self.out = values, out

    def step(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.values[lo]
            lo += 1
