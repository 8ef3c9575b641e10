"""shape: the extents of a tensor, or the number of its items.

Serves Shape and Size (all opsets) where the converter is not to compute them.

    x        any dtype
    out      int64: n extents, or 1 item
    params   the first axis and the number n of axes; none for the number of items
Raises ModelError. A step allocates nothing but integers of more than 30 bits.
"""


def prepare(node):
    node.expect(1, 1, len(node.params))
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype("int64", out)
    if len(node.params):
        node.expect(1, 1, 2)
        first, n = node.extents(0, 2)
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
