"""loop: run a body repeatedly.

    counter = 0
    while counter < trips and condition: body; counter += 1

Serves Loop and Scan (all opsets). Copies of carried values, and of the slices that a round reads
and writes, are steps of the body (move, gather, place).

    inputs   trips int64 (1), condition bool (1)
    outputs  counter int64 (1): in the body the index of the round, behind the loop the number of
             rounds
    body     may write the condition
Raises ModelError, and InputError at run time if the rounds exceed their bound. Allocates nothing
itself.
"""

from ..errors import InputError

# params
_MOST = const(0)  # bound of the number of rounds
_ROUNDS = const(1)  # [?] dim of the number of rounds

_LIMIT = 1 << 16


def prepare(node):
    node.expect(2, 1, len(node.params), 0, 1)
    node.require(0 < len(node.params) < 3, "params")
    trips, condition = node.inputs
    counter = node.outputs[0]
    node.expect_dtype("int64", trips, counter)
    node.expect_dtype("bool", condition)
    node.require(min(trips.nelem, condition.nelem, counter.nelem) > 0, "empty operand")
    most = node.extents(_MOST, 1)[0]
    node.require(most <= _LIMIT, "rounds")
    loop = _Loop(node.bodies[0], trips.data, condition.data, counter.data)
    loop.most, loop.name = most, node.name
    loop.rounds = node.dim(_ROUNDS) if len(node.params) > 1 else None
    return 1, loop.step


class _Loop:
    def __init__(self, body, trips, condition, counter):
        self.body, self.trips, self.condition, self.counter = body, trips, condition, counter

    def step(self, lo, hi):
        trips = self.trips[0]
        i = 0
        while i < trips and self.condition[0]:
            if i >= self.most:
                raise InputError("{}: more than {} rounds".format(self.name, self.most))
            self.counter[0] = i
            for n, step in self.body:
                step(0, n)
            i += 1
        self.counter[0] = i
        if self.rounds:
            self.rounds.set(i)
