"""The memory plan: no two living tensors overlap, and it is near the bound."""

import random

from tools.converter.ir import Graph, Step, Tensor
from tools.converter.plan import ALIGNMENT, lifetimes, plan

FLOAT = 1


def chain(*sizes):
    tensors = [Tensor(f"t{i}", FLOAT, (n,)) for i, n in enumerate(sizes)]
    steps = [Step("relu", [a], [b], []) for a, b in zip(tensors, tensors[1:], strict=False)]
    return Graph([tensors[0]], [tensors[-1]], steps)


def random_graph(rng, n_steps):
    tensors = [Tensor("x", FLOAT, (rng.randint(1, 50),))]
    steps = []
    for i in range(n_steps):
        inputs = rng.sample(tensors, min(len(tensors), rng.randint(1, 3)))
        out = Tensor(f"t{i}", FLOAT, (rng.randint(1, 50),))
        scratch = [Tensor(f"s{i}", FLOAT, (rng.randint(1, 9),))] if rng.random() < 0.3 else []
        steps.append(Step("any", inputs, [out], [], scratch))
        tensors.append(out)
    return Graph([tensors[0]], [tensors[-1]], steps)


def assert_sound(graph, p):
    for i, a in enumerate(p.blocks):
        assert a.offset % ALIGNMENT == 0
        assert a.offset + a.nbytes <= p.arena_bytes
        for b in p.blocks[:i]:
            if a.overlaps(b):
                assert a.offset + a.nbytes <= b.offset or b.offset + b.nbytes <= a.offset


def test_a_chain_needs_its_two_largest_neighbours():
    graph = chain(10, 100, 20, 60)
    p = plan(graph)
    assert p.arena_bytes == p.lower_bound_bytes == 4 * 120
    assert_sound(graph, p)


def test_random_graphs_never_overlap_and_stay_near_the_bound():
    rng = random.Random(1)
    for _ in range(60):
        graph = random_graph(rng, rng.randint(1, 40))
        p = plan(graph)
        assert_sound(graph, p)
        assert p.lower_bound_bytes <= p.arena_bytes <= 1.1 * p.lower_bound_bytes


def test_kept_inputs_live_to_the_end():
    graph = chain(10, 10, 10)
    assert plan(graph, keep_inputs=True).arena_bytes == plan(graph).arena_bytes + 40
    assert lifetimes(graph, keep_inputs=True)[0].last == len(graph.steps)


def test_an_alias_keeps_its_memory_alive():
    x, y, out = (Tensor(name, FLOAT, (8,)) for name in ("x", "y", "out"))
    view = Tensor("view", FLOAT, (2, 4), alias=x)
    graph = Graph([x], [out], [Step("a", [x], [y], []), Step("b", [y, view], [out], [])])
    p = plan(graph)
    assert view.offset == x.offset
    assert p.arena_bytes == 3 * 32


def test_an_unused_input_and_an_output_of_no_step_have_memory():
    x, unused = Tensor("x", FLOAT, (4,)), Tensor("unused", FLOAT, (4,))
    graph = Graph([x, unused], [x], [])
    p = plan(graph)
    assert p.arena_bytes == 32
    assert x.offset != unused.offset


def test_constants_take_no_arena():
    import numpy as np

    w = Tensor("w", FLOAT, (100,), np.zeros(100, np.float32))
    x, y = Tensor("x", FLOAT, (1,)), Tensor("y", FLOAT, (1,))
    assert plan(Graph([x], [y], [Step("a", [x, w], [y], [])])).arena_bytes == 16
