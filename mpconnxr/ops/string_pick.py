"""string_pick: strings of all inputs, concatenated, selected by a table.

    out[i] = (x_0, x_1, ...)[table[i]]

Serves every operator that moves strings without changing them: Concat, Expand, Gather by constant
indices, Slice, Split, Tile, Transpose and others (all opsets).

    x_k    strings of fixed shapes;  table  int32 (K), a constant
    out    strings (K)
Raises ModelError. A step allocates nothing.
"""

from ..io.objects import expect_fixed

# params: none

OBJECTS = True


def prepare(node):
    node.require(len(node.inputs) >= 2, "inputs")
    node.expect(len(node.inputs), 1, 0)
    table, out = node.inputs[-1], node.outputs[0]
    expect_fixed(node, out, *node.inputs[:-1])
    node.expect_dtype("int32", table)
    node.require(table.nelem == out.nelem, "sizes")
    return out.nelem, _Pick([x.data for x in node.inputs[:-1]], table.data, out.data, node).step


class _Pick:
    def __init__(self, xs, table, out, node):
        self.xs, self.table, self.out, self.node = xs, table, out, node

    def step(self, lo, hi):
        while lo < hi:
            self.out[lo] = self._at(self.table[lo])
            lo += 1

    def _at(self, i):
        if i >= 0:
            for x in self.xs:
                if i < len(x):
                    return x[i]
                i -= len(x)
        self.node.fail("the table leads beyond the inputs")
