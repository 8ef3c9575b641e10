"""Last steps of a recurrent operator's output become its last states."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

T, B, K, H = 5, 2, 3, 4
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def case(op, direction, *more, batch=B, outputs="Y", result="r", constants=(), **attributes):
    """Return an operator over (T, batch, K), and nodes that make `result` of its outputs."""
    d, rows = 1 + (direction == "bidirectional"), GATES[op] * H
    fixed = {"w": randn(d, rows, K), "r0": randn(d, rows, H), "b": randn(d, 2 * rows)}
    fixed["h"] = randn(d, batch, H)
    inputs = ["x", "w", "r0", "b", "", "h"]
    if op == "LSTM":
        fixed["c"] = randn(d, batch, H, seed=2)
        inputs.append("c")
    first = node(op, "x", outputs, hidden_size=H, direction=direction, **attributes)
    first.input[:] = inputs
    nodes = [first, *more, node("Neg", result, "y")]
    return Case(nodes, {"x": randn(T, batch, K)}, fixed | dict(constants))


def index(i):
    return {"i": np.asarray(i)}


def result_of(case):
    result = case.rewritten()
    made = [n for n in case.done.graph.node if n.op_type in GATES]
    return result, [list(n.output) for n in made]


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction, i", [("forward", T - 1), ("forward", -1), ("reverse", 0)])
def test_a_last_step_becomes_the_state(op, direction, i):
    more = node("Transpose", "Y", "t", perm=[2, 0, 1, 3]), node("Gather", "t i", "r", axis=1)
    result, outputs = result_of(case(op, direction, *more, constants=index(i)))
    assert outputs[0][0] == "" and "Gather" not in result


@pytest.mark.parametrize("direction, i", [("forward", 0), ("reverse", -1), ("forward", 2)])
def test_another_step_stays(direction, i):
    _, outputs = result_of(case("GRU", direction, node("Gather", "Y i", "r"), constants=index(i)))
    assert outputs == [["Y"]]


def test_an_output_that_is_read_as_a_whole_stays():
    more = [node("Gather", "Y i", "last"), node("Add", "Y last", "r")]
    _, [outputs] = result_of(case("LSTM", "forward", *more, constants=index(-1)))
    assert all(outputs[:2])


@pytest.mark.parametrize("op, opset", [*((op, 17) for op in GATES), ("LSTM", 9)])
def test_a_last_step_of_both_directions_makes_two_operators(op, opset):
    """torch reads y[:, -1]. Below opset 10, a Slice has its bounds in attributes."""
    more = [node("Transpose", "Y", "t", perm=[0, 2, 1, 3])]
    more += [node("Reshape", "t shape", "s"), node("Gather", "s i", "r")]
    constants = index(T - 1) | {"shape": np.int64([T, 1, 2 * H])}
    functions = ["Tanh", "Relu"] if op == "RNN" else None
    kwargs = {"activations": functions} if functions else {}
    made = case(op, "bidirectional", *more, batch=1, constants=constants, **kwargs)
    made.opset = opset
    result, outputs = result_of(made)
    assert result[op] == 2 and not any(out[0] for out in outputs)


def test_a_state_that_is_read_has_both_directions():
    more = [node("Gather", "Y i", "last"), node("Add", "last Y_h", "r")]
    recurrent = case("GRU", "bidirectional", *more, outputs="Y Y_h", constants=index(-1))
    result, outputs = result_of(recurrent)
    assert result["GRU"] == 1 and all(outputs[0])


def test_the_ends_of_both_directions_become_the_state():
    """The last step forwards and the first one backwards are joined."""
    constants = {"zero": np.asarray(0), "one": np.asarray(1), "last": np.asarray(T - 1)}
    more = [node("Gather", "Y last", "a"), node("Gather", "a zero", "p")]
    more += [node("Gather", "Y zero", "z"), node("Gather", "z one", "q")]
    more += [node("Concat", "p q", "r", axis=1)]
    _, [outputs] = result_of(case("GRU", "bidirectional", *more, constants=constants))
    assert outputs[0] == ""


def test_sequences_with_lengths_stay():
    recurrent = case("GRU", "forward", node("Gather", "Y i", "r"), constants=index(-1))
    recurrent.nodes[0].input[4] = "lens"
    recurrent.constants["lens"] = np.int32([T, T - 1])
    _, outputs = result_of(recurrent)
    assert outputs == [["Y"]]
