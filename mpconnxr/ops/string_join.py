"""string_join: concatenate or compare pairs of strings.

    out[i] = a[i] followed by b[i]      (op 0)
    out[i] = a[i] == b[i]               (op 1)

Serves StringConcat and Equal on strings (all opsets); the converter broadcasts.

    a, b  strings (N) of fixed shape;  out  strings (N), or bool (N) for op 1
Raises ModelError. A step allocates the strings that it makes.
"""

from ..io.objects import expect_fixed

# params
_OP = const(0)  # 0 concatenate, 1 compare
_N_PARAMS = const(1)

OBJECTS = True


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    a, b = node.inputs
    out = node.outputs[0]
    [op] = node.extents(_OP, 1)
    node.require(op < 2, "op")
    expect_fixed(node, a, b)
    if op == 0:
        expect_fixed(node, out)
    else:
        node.expect_dtype("bool", out)
    node.require(a.nelem == b.nelem == out.nelem, "sizes")
    step = _Join(a.data, b.data, out.data)
    return out.nelem, step.join if op == 0 else step.compare


class _Join:
    def __init__(self, a, b, out):
        self.a, self.b, self.out = a, b, out

    def join(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.a[lo] + self.b[lo]
            lo += 1

    def compare(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.a[lo] == self.b[lo]
            lo += 1
