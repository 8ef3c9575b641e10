"""Copies are omitted if tensors can share memory."""

import pytest

from tests.host.converter.plan.machine import FLOAT, INT8, Apart, Arena, elementwise, move, run
from tools.converter.ir import Graph, Step, Tensor
from tools.converter.plan import plan


def tensor(name, n=8, dtype=FLOAT):
    return Tensor(name, dtype, (n,))


def planned(graph):
    """Plan a graph and check its results; return (its kernels, bytes of arena)."""
    expected = run(graph, Apart())
    p = plan(graph)
    assert run(graph, Arena(p.arena_bytes)) == expected
    return [s.kernel for s in graph.steps], p.arena_bytes


def concat(a, b, out):
    return [move(a, out, a.nelem), move(b, out, b.nelem, 0, a.nelem)]


def test_parts_of_a_concat_are_computed_in_place():
    x, a, b, out = tensor("x"), tensor("a"), tensor("b"), tensor("out", 16)
    steps = [Step("any", [x], [a], []), Step("any", [x], [b], []), *concat(a, b, out)]
    assert planned(Graph([x], [out], steps)) == (["any", "any"], 32 + 64)


def test_parts_of_a_split_are_read_in_place():
    x, y, a, b = tensor("x"), tensor("y", 16), tensor("a"), tensor("b")
    p, q = tensor("p", 1), tensor("q", 1)
    steps = [Step("any", [x], [y], []), move(y, a, 8), move(y, b, 8, 8)]
    steps += [Step("any", [a], [p], []), Step("any", [b, p], [q], [])]
    kernels, nbytes = planned(Graph([x], [q], steps))
    assert kernels == ["any"] * 3 and nbytes == 32 + 64


def test_a_value_of_two_concats_is_copied_once():
    x, a = tensor("x"), tensor("a")
    outs = [tensor("p", 16), tensor("q", 16)]
    steps = [Step("any", [x], [a], []), *concat(a, x, outs[0]), *concat(a, x, outs[1])]
    kernels, _ = planned(Graph([x], outs, steps))
    assert kernels.count("move") == 3


def test_a_value_twice_in_one_concat_is_copied_once():
    x, a, out = tensor("x"), tensor("a"), tensor("out", 16)
    steps = [Step("any", [x], [a], []), *concat(a, a, out)]
    assert planned(Graph([x], [out], steps))[0] == ["any", "move"]


@pytest.mark.parametrize("kept", ["input", "output", "misaligned", "written later"])
def test_copies_stay_where_memory_cannot_be_shared(kept):
    x, a, b, out = tensor("x"), tensor("a"), tensor("b"), tensor("out", 16)
    outputs = [out]
    steps = [Step("any", [x], [a], []), elementwise(b, a)]
    if kept == "input":  # refilling it must not change an output
        a = x
    elif kept == "output":
        outputs = [out, a]
    elif kept == "misaligned":
        b, a, out = (Tensor(n, INT8, (k,)) for n, k in (("b", 3), ("a", 8), ("out", 11)))
        steps = [Step("any", [x], [a], []), Step("any", [a], [b], [])]
        outputs = [out]
        steps += [*concat(b, a, out)]
    if kept != "misaligned":
        steps += concat(b, a, out)
    if kept == "written later":
        steps.append(Step("any", [out], [a], []))
        outputs = [out, tensor("z")]
        steps.append(Step("any", [a, out], [outputs[1]], []))
    assert "move" in planned(Graph([x], outputs, steps))[0]


def test_a_part_that_would_keep_a_large_tensor_alive_is_copied():
    x, y, a, big, out = tensor("x"), tensor("y", 100), tensor("a"), tensor("big", 150), tensor("o")
    steps = [Step("any", [x], [y], []), move(y, a, 8, 8), Step("any", [a], [big], [])]
    steps.append(Step("any", [big, a], [out], []))
    assert planned(Graph([x], [out], steps))[0] == ["any", "move", "any", "any"]
