"""A plan is refused if a step does not find its inputs, whatever is moved or swapped."""

from __future__ import annotations

import random

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.converter.random_models import random_model
from tests.host.converter.random_operators import FLOATS
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.verify import InternalError, arena

SEEDS = range(12)


def converted(model, **options):
    """Return (graph, bytes of its arena)."""
    conversion = convert(model, Options(strip=True, **options))
    return conversion.graph, conversion.plan.arena_bytes


def faults(graph, nbytes, keep_inputs=False):
    try:
        arena.check(graph, nbytes, keep_inputs)
    except InternalError as e:
        return str(e)
    return ""


def chain(*ops):
    nodes = [(op, f"v{i}", f"v{i + 1}", {}) for i, op in enumerate(ops)]
    nodes.append(("Concat", "v1 " + nodes[-1][2], "y", {"axis": 0}))
    return small.model(nodes, [small.value("v0", (8,))], [small.value("y", (16,))])


def test_steps_in_another_order_are_refused():
    graph, nbytes = converted(chain("Exp", "Sin", "Cos", "Erf"))
    assert not faults(graph, nbytes)
    graph.steps[1], graph.steps[2] = graph.steps[2], graph.steps[1]
    assert "which no step wrote" in faults(graph, nbytes) or "overwritten" in faults(graph, nbytes)


def test_a_missing_step_is_refused():
    graph, nbytes = converted(chain("Exp", "Sin", "Cos", "Erf"))
    for i in range(len(graph.steps)):
        rest = graph.steps[:i] + graph.steps[i + 1 :]
        before, graph.steps = graph.steps, rest
        assert faults(graph, nbytes)
        graph.steps = before


def test_overwriting_a_kept_input_is_refused():
    model = small.model(
        [("Exp", "x", "a", {}), ("Sin", "a", "y", {})],
        [small.value("x", (8,))],
        [small.value("y", (8,))],
    )
    graph, nbytes = converted(model)
    assert not faults(graph, nbytes)
    assert "the end of the run reads x" in faults(graph, nbytes, keep_inputs=True)


def test_an_undeclared_overlap_is_refused():
    graph, nbytes = converted(chain("Exp", "Sin"))
    for step in graph.steps:
        step.over, step.behind, step.in_place = {}, {}, ()
    assert "which it reads" in faults(graph, nbytes)


def loop():
    """Return a Loop that adds to a carried value, and an If on its result."""
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        [
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Sin", ["x"], ["s"]),
            helper.make_node("Add", ["total", "s"], ["more"]),
        ],
        "body",
        [
            value("i", TensorProto.INT64, []),
            value("go", TensorProto.BOOL, []),
            value("total", TensorProto.FLOAT, [8]),
        ],
        [value("go_on", TensorProto.BOOL, []), value("more", TensorProto.FLOAT, [8])],
    )
    nodes = [("Exp", "x", "first", {}), ("Loop", "n go first", "last", {"body": body})]
    nodes.append(("Add", "last x", "y", {}))
    constants = {"n": np.int64(3), "go": np.asarray(True)}
    inputs, outputs = [small.value("x", (8,))], [small.value("y", (8,))]
    return small.model(nodes, inputs, outputs, **constants)


def test_overwriting_what_the_next_round_reads_is_refused():
    graph, nbytes = converted(loop())
    assert not faults(graph, nbytes)
    [outer] = [s for s in graph.steps if s.bodies]
    x = graph.inputs[0]
    inner = next(t for s in outer.bodies[0] for t in s.outputs if t.nbytes == 32 and not t.alias)
    inner.offset = x.offset
    assert "has overwritten" in faults(graph, nbytes) or "which it reads" in faults(graph, nbytes)


def test_reading_an_overwritten_state_is_refused():
    nodes = [("Exp", "s", "z", {}), ("Add", "x x", "y", {})]
    values = [small.value(name, (8,)) for name in "sxyz"]
    graph, nbytes = converted(small.model(nodes, values[:2], values[2:]), state={"s": "y"})
    assert not faults(graph, nbytes)
    graph.steps.reverse()
    assert "after its next value was written" in faults(graph, nbytes)


def test_weights_that_are_not_loaded_are_refused():
    nodes = [("Gemm", "x w", "a", {}), ("Gemm", "a w2", "b", {}), ("Gemm", "b w3", "y", {})]
    constants = {name: small.floats(64, 64, seed=i) for i, name in enumerate(("w", "w2", "w3"))}
    values = [small.value(name, (1, 64)) for name in "xy"]
    graph, nbytes = converted(small.model(nodes, values[:1], values[1:], **constants))
    assert graph.reads and not faults(graph, nbytes)
    reads = dict(graph.reads)
    for step in reads:
        graph.reads = {s: chunks for s, chunks in reads.items() if s is not step}
        assert "not in memory then" in faults(graph, nbytes) or not graph.reads
    graph.reads = reads
    first = graph.weights.chunks[next(iter(reads.values()))[0]]
    first.place = graph.inputs[0].offset
    assert faults(graph, nbytes)


@pytest.mark.parametrize("seed", SEEDS)
def test_living_values_must_not_overlap(seed):
    """The simulation detects it, whatever memory is moved over memory in use."""
    model, _ = random_model(seed, FLOATS)
    converted = convert(model, Options(strip=True))
    graph, nbytes, rng = converted.graph, converted.plan.arena_bytes, random.Random(seed)
    blocks = [b for b in converted.plan.blocks if b.nbytes]
    pairs = [(a, b) for a in blocks for b in blocks if a is not b and _hold(a, b)]
    for a, b in rng.sample(pairs, min(len(pairs), 10)):
        moved = [t for t in graph.tensors() if t.root is a.tensor]
        before = [t.offset for t in moved]
        for t in moved:
            t.offset = b.offset + t.start
        assert faults(graph, nbytes + a.nbytes), (a.tensor.name, b.tensor.name)
        for t, offset in zip(moved, before, strict=True):
            t.offset = offset
    assert not faults(graph, nbytes)


def _hold(a, b):
    """Return True if b is alive for a later step when a is written."""
    return b.first < a.first < b.last
