"""string_match: True where all of a string matches a regular expression.

Serves RegexFullMatch (all opsets).

    x       strings of fixed shape (N)
    starts, table, classes  int32: the expression's automaton (see _automaton)
    out     bool (N)
Raises ModelError. A step allocates only the characters of each string.
"""

from ..io.objects import expect_fixed
from ._automaton import automaton

# params
_STATES = const(0)
_CLASSES = const(1)
_N_PARAMS = const(2)

OBJECTS = True
PROVED = (2, 3)


def prepare(node):
    node.expect(4, 1, _N_PARAMS)
    x, starts, table, classes = node.inputs
    out = node.outputs[0]
    expect_fixed(node, x)
    node.expect_dtype("int32", starts, table, classes)
    node.expect_dtype("bool", out)
    node.require(x.nelem == out.nelem, "sizes")
    sizes = node.extents(0, _N_PARAMS)
    expression = automaton(node, starts.data, table.data, classes.data, *sizes)
    return x.nelem, _Match(x.data, out.data, expression.accepts).step


class _Match:
    def __init__(self, x, out, accepts):
        self.x, self.out, self.accepts = x, out, accepts

    def step(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.accepts(self.x[lo])
            lo += 1
