"""string_select: one of two strings, by a condition.

    out[i] = a[i] where c[i], else b[i]

Serves Where on strings (all opsets); the converter broadcasts.

    c  bool (N);  a, b  strings (N) of fixed shape;  out  strings (N)
Raises ModelError. A step allocates nothing.
"""

from ..io.objects import expect_fixed

# params: none

OBJECTS = True


def prepare(node):
    node.expect(3, 1, 0)
    c, a, b = node.inputs
    out = node.outputs[0]
    expect_fixed(node, a, b, out)
    node.expect_dtype("bool", c)
    node.require(c.nelem == a.nelem == b.nelem == out.nelem, "sizes")
    return out.nelem, _Select(c.data, a.data, b.data, out.data).step


class _Select:
    def __init__(self, c, a, b, out):
        self.c, self.a, self.b, self.out = c, a, b, out

    def step(self, lo, hi):
        while lo < hi:
            self.out[lo] = (self.a if self.c[lo] else self.b)[lo]
            lo += 1
