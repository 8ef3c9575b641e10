"""branch: run one of two bodies. Serves If (all opsets).

    inputs   condition bool (1)
    bodies   for true, for false; both write the same tensors

Raises ModelError. Allocates nothing itself.
"""

# params: none


def prepare(node):
    node.expect(1, 0, 0, 0, 2)
    condition = node.inputs[0]
    node.expect_dtype("bool", condition)
    node.require(condition.nelem > 0, "empty operand")
    return 1, _Branch(condition.data, node.bodies).step


class _Branch:
    def __init__(self, condition, bodies):
        self.condition = condition
        self.yes, self.no = bodies

    def step(self, lo, hi):
        for n, step in self.yes if self.condition[0] else self.no:
            step(0, n)
