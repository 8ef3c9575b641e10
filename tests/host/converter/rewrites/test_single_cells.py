"""A single cell becomes a recurrent operator of one step."""

import numpy as np
import onnx
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn
from tests.host.converter.rewrites.test_unrolled import Builder, H, K, lstm_cell
from tests.host.converter.test_random_models import on_device
from tools.converter.reference import golden

ROWS = 2


def inputs():
    return {"x": randn(ROWS, K), "h": randn(ROWS, H), "c": randn(ROWS, H, seed=1)}


def test_a_cell_becomes_lstm():
    b = Builder(ROWS)
    w, r, bias, _ = b.weights(4)
    z = b("Add", b("Add", b("MatMul", "x", w), b("MatMul", "h", r)), bias)
    h, c = lstm_cell(b, z, "c")
    result = b.ops(b("Concat", h, c, axis=1), inputs())
    assert result["LSTM"] == 1 and result.total() <= 8  # five views


def test_an_lstm_may_read_its_state_before_h(target):
    """The operator computes both states at once: the reader of c moves behind it."""
    b = Builder(ROWS)
    w, r, bias, _ = b.weights(4)
    z = b("Add", b("Add", b("MatMul", "x", w), b("MatMul", "h", r)), bias)
    h, c = lstm_cell(b, z, "c")
    *others, tanh, mul = b.nodes
    b.nodes = [*others, node("Concat", f"{c} {c}", "state", axis=1), tanh, mul]
    b.nodes.append(node("Concat", f"{h} state", "y", axis=1))
    case = Case(b.nodes, inputs(), b.constants)
    assert case.rewritten()["LSTM"] == 1
    model, values = onnx.shape_inference.infer_shapes(case.model()), list(case.inputs.values())
    (got,) = next(on_device(target, [(model, values)]))
    (expected,) = golden.reference(model, values)
    assert np.abs(got - expected).max() < 1e-5


@pytest.mark.parametrize("resets_sums", [True, False])
def test_a_cell_becomes_gru(resets_sums):
    b = Builder(ROWS)
    w, r, bias, more = b.weights(3)
    wz, wr, wn = b("Split", b("Add", b("MatMul", "x", w), bias), n=3, axis=-1)
    hz, hr, hn = b("Split", b("Add", b("MatMul", "h", r), more), n=3, axis=-1)
    z, reset = b("Sigmoid", b("Add", wz, hz)), b("Sigmoid", b("Add", wr, hr))
    if resets_sums:
        of_h = b("Mul", reset, hn)
    else:
        of_h = b("MatMul", b("Mul", reset, "h"), b.constant(randn(H, H)))
    new = b("Tanh", b("Add", wn, of_h))
    h = b("Add", b("Mul", b("Sub", "h", new), z), new)
    feed = inputs()
    del feed["c"]
    result = b.ops(h, feed)
    assert result["GRU"] == 1 and result.total() <= 5


def test_another_function_stays():
    b = Builder(ROWS)
    w, r, bias, _ = b.weights(4)
    z = b("Add", b("Add", b("MatMul", "x", w), b("MatMul", "h", r)), bias)
    i, f, o, g = b("Split", z, n=4, axis=-1)
    i, f, o = (b("Sigmoid", v) for v in (i, f, o))
    c = b("Add", b("Mul", f, "c"), b("Mul", i, b("Relu", g)))
    result = b.ops(b("Mul", o, b("Tanh", c)), inputs())
    assert "LSTM" not in result


def torch_gru(b, x, h, weights):
    """Add a GRU as torch writes it: sums over h are reset, and h - n is scaled."""
    w, r, bias, more = weights
    xr, xz, xn = b("Split", b("Add", b("MatMul", x, w), bias), n=3, axis=-1)
    hr, hz, hn = b("Split", b("Add", b("MatMul", h, r), more), n=3, axis=-1)
    z, reset = b("Sigmoid", b("Add", xz, hz)), b("Sigmoid", b("Add", xr, hr))
    new = b("Tanh", b("Add", xn, b("Mul", reset, hn)))
    return b("Add", b("Mul", b("Sub", h, new), z), new)


def test_cells_may_read_one_another():
    b = Builder(ROWS)
    h = torch_gru(b, "x", "h", b.weights(3))
    second = torch_gru(b, h, "c", b.weights(3, H))
    result = b.ops(b("Concat", h, second, axis=1), inputs())
    assert result["GRU"] == 2 and "MatMul" not in result


def test_a_decoder_may_read_its_own_output():
    """Each cell's input is a product of the previous state."""
    b = Builder(ROWS)
    weights, out = b.weights(3), b.constant(randn(H, K))
    h, x, results = "h", "x", []
    for _ in range(4):
        h = torch_gru(b, x, h, weights)
        x = b("MatMul", h, out)
        results.append(x)
    feed = inputs()
    del feed["c"]
    result = b.ops(b("Concat", *results, axis=1), feed)
    assert result["GRU"] == 4 and "Tanh" not in result
