"""string_gather: rows of strings selected by indices.

    out[o, k, i] = x[o, index[k], i]        (a negative index counts from the end)

Serves Gather and ArrayFeatureExtractor on strings (all opsets), and string labels of classifiers.

    x      strings (outer, n, inner) of fixed shape;  index  int32 or int64 (K)
    out    strings (outer, K, inner)
Raises ModelError, and InputError at run time for an index outside of -n .. n - 1. A step allocates
only big integers.
"""

from ..errors import InputError
from ..io.objects import expect_fixed

# params
_OUTER = const(0)
_N = const(1)
_INNER = const(2)
_N_PARAMS = const(3)

OBJECTS = True


def prepare(node):
    node.expect(2, 1, _N_PARAMS)
    x, index = node.inputs
    out = node.outputs[0]
    expect_fixed(node, x, out)
    node.require(index.dtype in ("int32", "int64"), "indices of dtype " + index.dtype)
    outer, n, inner = node.extents(0, _N_PARAMS)
    node.require(outer * n * inner == x.nelem, "input size")
    node.require(outer * index.nelem * inner == out.nelem, "output size")
    if out.nelem == 0:
        return 0, None
    return out.nelem, _Gather(node.name, index.data, x.data, out.data, (n, inner)).step


class _Gather:
    """The step; its extent is elements of the output."""

    def __init__(self, name, index, x, out, shape):
        self.name, self.index, self.x, self.out = name, index, x, out
        self.n, self.inner = shape

    def step(self, lo, hi):
        k, inner = len(self.index), self.inner
        while lo < hi:
            row = lo // inner
            i = self.index[row % k]
            if i < 0:
                i += self.n
            if not 0 <= i < self.n:
                self._refuse()
            self.out[lo] = self.x[(row // k * self.n + i) * inner + lo % inner]
            lo += 1

    def _refuse(self):
        raise InputError("{}: an index is outside -{} .. {}".format(self.name, self.n, self.n - 1))
