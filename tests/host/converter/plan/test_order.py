"""The planner's order of steps is valid, never worse, and optimal for small graphs."""

from itertools import permutations

import pytest

from tests.host.converter.plan.machine import FLOAT, INT8, Apart, Arena, random_graph, run
from tools.converter.ir import Graph, Step, Tensor
from tools.converter.plan import Overlap, lower_bound, order, plan


def is_valid(steps, graph):
    """Return True if the steps that write a value keep their order and precede its readers."""
    for t in {t for step in steps for t in step.outputs}:
        writers = [s for s in graph.steps if t in s.outputs]
        touching = [s for s in steps if t in s.outputs or t in [x.root for x in s.inputs]]
        if touching[: len(writers)] != writers:
            return False
    return True


def bound_of(graph, steps):
    return lower_bound(Graph(graph.inputs, graph.outputs, list(steps)))


@pytest.mark.parametrize("seed", range(25))
def test_the_order_of_a_small_graph_is_optimal(seed):
    graph = random_graph(seed, 6)
    orders = [o for o in permutations(graph.steps) if is_valid(o, graph)]
    best = min(bound_of(graph, o) for o in orders)
    result = order.reorder(graph, keep_inputs=False, overlap=Overlap.ROWS) or graph.steps
    assert is_valid(result, graph)
    assert bound_of(graph, result) == best


def test_some_graphs_get_a_better_order():
    saved = 0
    for seed in range(20):
        graph = random_graph(seed, 30)
        result = order.reorder(graph, keep_inputs=False, overlap=Overlap.ROWS)
        saved += bound_of(graph, graph.steps) - bound_of(graph, result or graph.steps)
    assert saved > 0


def branches(n_branches, length):
    """Return branches of large values with small ends; steps alternate between the branches."""
    x, steps, ends = Tensor("x", INT8, (8,)), [], []
    for k in range(n_branches):
        values = [Tensor(f"{k}/{i}", FLOAT, (100,)) for i in range(length)]
        values.append(Tensor(f"{k}/end", FLOAT, (2,)))
        pairs = zip([x, *values], values, strict=False)
        steps.append([Step("any", [a], [b], []) for a, b in pairs])
        ends.append(values[-1])
    out = Tensor("out", FLOAT, (2,))
    in_turn = [step for level in zip(*steps, strict=True) for step in level]
    return Graph([x], [out], [*in_turn, Step("any", ends, [out], [])])


@pytest.mark.parametrize("n_branches, length", [(2, 2), (3, 5), (12, 6)])
def test_branches_are_computed_one_after_another(n_branches, length):
    """The last graph has 8 ** 12 sets of steps, more than can be searched."""
    graph = branches(n_branches, length)
    expected = run(graph, Apart())
    p = plan(graph)
    assert p.arena_bytes == 800 + 8 * (n_branches - 1)  # the ends of the others
    assert run(graph, Arena(p.arena_bytes)) == expected


def test_writers_of_parts_precede_the_readers():
    x, y, z = (Tensor(name, FLOAT, (8,)) for name in "xyz")
    steps = [Step("any", [x], [y], []), Step("any", [x], [y], []), Step("any", [y], [z], [])]
    assert order._dependencies([*steps, Step("any", [z], [y], [])]) == [0, 1, 3, 7]


def test_loops_keep_their_place():
    graph = branches(2, 2)
    graph.steps[1].bodies = [[]]
    steps = list(graph.steps)
    assert order.reorder(graph, keep_inputs=False, overlap=Overlap.ROWS) is None
    plan(graph)
    assert graph.steps == steps
