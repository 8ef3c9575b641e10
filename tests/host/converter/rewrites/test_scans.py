"""A Scan of a recurrent network's cell becomes the recurrent operator."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.converter.rewrites.graphs import Case, node, randn

T, N, K, H = 6, 2, 3, 4
WEIGHTS = {"w": randn(K + H, 4 * H), "v": randn(K + H, H), "b": randn(4 * H), "c": randn(H)}
STATES = {"h0": randn(N, H), "c0": randn(N, H, seed=1), "t0": np.zeros((), np.float32)}
LSTM = [
    node("Concat", "x h", "both", axis=1),
    node("Gemm", "both w b", "z"),
    node("Split", "z", "zi zg zf zo", axis=1),
    node("Sigmoid", "zi", "i"),
    node("Add", "zf one", "f1"),
    node("Sigmoid", "f1", "f"),
    node("Sigmoid", "zo", "o"),
    node("Tanh", "zg", "g"),
    node("Mul", "f c_in", "kept"),
    node("Mul", "i g", "new"),
    node("Add", "kept new", "c_out"),
    node("Tanh", "c_out", "squashed"),
    node("Mul", "o squashed", "h_out"),
]


def info(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def scan(nodes, states, outputs, read, **attributes):
    """Return a Scan with states (name outside, input, output), whose outputs are named `read`."""
    inputs = [info(inside, *(() if inside == "t" else (N, H))) for _, inside, _ in states]
    count = [node("Add", "t one", "t_out")] if any(s[1] == "t" for s in states) else []
    copies = [node("Identity", name, f"{name}_each") for name in outputs]
    results = [info(out, *(() if out == "t_out" else (N, H))) for _, _, out in states]
    results += [info(f"{name}_each", N, H) for name in outputs]
    graph = [*nodes, *count, *copies]
    body = helper.make_graph(graph, "body", [*inputs, info("x", N, K)], results)
    outside = " ".join([*(s[0] for s in states), "s"])
    return node("Scan", outside, read, body=body, num_scan_inputs=1, **attributes)


def ops(made, read="y"):
    inputs = {"s": randn(T, N, K), **STATES}
    constants = {**WEIGHTS, "one": np.float32(1)}
    return Case([made], inputs, constants, outputs=read).rewritten()


TWO = [("h0", "h", "h_out"), ("c0", "c_in", "c_out")]


@pytest.mark.parametrize("direction", [0, 1])
def test_a_scan_of_tensorflow_becomes_lstm(direction):
    directions = {"scan_input_directions": [direction], "scan_output_directions": [direction]}
    result = ops(scan(LSTM, TWO, ["h_out"], "hn cn y", **directions), "hn cn y")
    assert result["LSTM"] == 1 and "Scan" not in result


def test_an_unread_counter_is_removed():
    result = ops(scan(LSTM, [("t0", "t", "t_out"), *TWO], [], "tn hn cn"), "hn")
    assert result["LSTM"] == 1 and "Scan" not in result


def test_a_scan_becomes_rnn():
    cell = [
        node("Concat", "x h", "both", axis=1),
        node("Gemm", "both v c", "z"),
        node("Tanh", "z", "h_out"),
    ]
    result = ops(scan(cell, TWO[:1], ["h_out"], "hn y"), "hn y")
    assert result["RNN"] == 1


@pytest.mark.parametrize(
    ("states", "outputs", "read", "expected"),
    [
        ([("t0", "t", "t_out"), *TWO], [], "tn hn cn", "tn hn"),  # the count is read
        (TWO, ["c_out"], "hn cn y", "hn y"),  # each step's c is no output of LSTM
        ([("h0", "h", "h_out"), ("c0", "c_in", "kept")], [], "hn cn", "hn"),
        ([("h0", "h", "c_out"), ("c0", "c_in", "h_out")], [], "hn cn", "hn"),
    ],
)
def test_other_bodies_stay(states, outputs, read, expected):
    assert ops(scan(LSTM, states, outputs, read), expected)["Scan"] == 1


def test_results_in_reversed_order_stay():
    directions = {"scan_input_directions": [1], "scan_output_directions": [0]}
    assert ops(scan(LSTM, TWO, ["h_out"], "hn cn y", **directions), "y")["Scan"] == 1
