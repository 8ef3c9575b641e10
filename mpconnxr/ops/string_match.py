"""string_match: whether all of a string matches a regular expression.

Serves RegexFullMatch (all opsets). The converter made a deterministic automaton of the expression:
from state 0 each character leads to another state, by the class of its code point.

    x       strings of fixed shape (N)
    starts  int32 (I), rising: the first code points of I intervals, from 0
    table   int32 (S, 1 + C): by state whether it accepts, then the next state for each class
    classes int32 (I): the class of each interval
    out     bool (N)
Raises ModelError. A step allocates nothing but each string's characters.
"""

from ..objects import expect_fixed

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
    n_states, n_classes = node.extents(0, _N_PARAMS)
    node.require(n_states > 0 and table.nelem == n_states * (n_classes + 1), "table")
    node.require(starts.nelem == classes.nelem > 0 and x.nelem == out.nelem, "sizes")
    for i in range(table.nelem):
        node.require(0 <= table.data[i] < n_states or i % (n_classes + 1) == 0, "state")
    for i in range(classes.nelem):
        node.require(0 <= classes.data[i] < n_classes, "class")
    step = _Match(x.data, out.data, n_classes + 1)
    step.starts, step.table, step.classes = starts.data, table.data, classes.data
    return x.nelem, step.step


class _Match:
    def __init__(self, x, out, width):
        self.x, self.out, self.width = x, out, width

    def step(self, lo, hi):
        while lo < hi:
            at = 0
            for c in self.x[lo]:
                at = self.table[at + 1 + self._class(ord(c))] * self.width
            self.out[lo] = self.table[at] != 0
            lo += 1

    def _class(self, code):
        low, high = 0, len(self.starts)
        while high - low > 1:
            middle = (low + high) // 2
            if self.starts[middle] <= code:
                low = middle
            else:
                high = middle
        return self.classes[low]
