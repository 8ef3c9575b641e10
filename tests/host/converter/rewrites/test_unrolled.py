"""Unrolled recurrent networks of different exporters become one operator again."""

from __future__ import annotations

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

T, K, H = 5, 3, 4


class Builder:
    """Nodes of an unrolled network, with fresh names."""

    def __init__(self, rows: int = 1):
        self.nodes, self.constants, self.rows = [], {}, rows

    def __call__(self, op, *inputs, n=1, **attributes):
        outputs = [f"v{len(self.nodes)}_{i}" for i in range(n)]
        names = [self.constant(v) if isinstance(v, np.ndarray) else v for v in inputs]
        self.nodes.append(node(op, " ".join(names), " ".join(outputs), **attributes))
        return outputs[0] if n == 1 else outputs

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants[name] = value
        return name

    def weights(self, gates, k=K):
        """Return W (k, gates * H), R (H, gates * H), and two biases."""
        made = randn(k, gates * H), randn(H, gates * H), randn(gates * H), randn(gates * H, seed=1)
        return [self.constant(v * np.float32(0.5)) for v in made]

    def steps(self, x="x"):
        """Split x (rows, T, K) into T tensors (rows, K)."""
        pieces = self("Split", x, n=T, axis=1)
        return [self("Squeeze", p, np.int64([1])) for p in pieces]

    def ops(self, y, x=None, **kwargs):
        self.nodes.append(node("Neg", y, "y"))
        x = {"x": randn(self.rows, T, K)} if x is None else x
        return Case(self.nodes, x, self.constants, **kwargs).rewritten()


def lstm_cell(b, z, c, order="ifgo"):
    gates = dict(zip(order, b("Split", z, n=4, axis=-1), strict=True))
    i, f, o = (b("Sigmoid", gates[name]) for name in "ifo")
    c = b("Add", b("Mul", f, c), b("Mul", i, b("Tanh", gates["g"])))
    return b("Mul", o, b("Tanh", c)), c


def zeros(b):
    return b.constant(np.zeros((b.rows, H), np.float32))


def keras_lstm(b, steps, k=K):
    w, r, bias, _ = b.weights(4, k)
    h = c = zeros(b)
    results = []
    for x in steps:
        z = b("Add", b("Add", b("MatMul", x, w), b("MatMul", h, r)), bias)
        h, c = lstm_cell(b, z, c)
        results.append(h)
    return results, c


@pytest.mark.parametrize("rows", [1, 3])
def test_an_lstm_unrolled_by_keras_is_found(rows):
    b = Builder(rows)
    results, _ = keras_lstm(b, b.steps())
    result = b.ops(results[-1])
    assert result["LSTM"] == 1 and result.total() <= 5


@pytest.mark.parametrize("opset", [8, 9, 10])
def test_steps_may_begin_with_the_second(opset):
    """Below opset 10, a Slice has its bounds in attributes."""
    b = Builder()
    steps = [b("Gather", "x", np.array(t), axis=1) for t in range(1, T)]
    results, _ = keras_lstm(b, steps)
    result = b.ops(results[-1], opset=opset)
    assert result["LSTM"] == result["Slice"] == 1


def test_an_lstm_with_one_product_a_gate_is_found():
    """Keras' implementation=1 has a MatMul and an Add for each gate, of x and of h."""
    b = Builder()
    w, r, bias, _ = (
        [b.constant(part) for part in np.split(b.constants[n], 4, -1)] for n in b.weights(4)
    )
    h = c = zeros(b)
    for x in b.steps():
        z = [
            b("Add", b("Add", b("MatMul", x, w[k]), bias[k]), b("MatMul", h, r[k]))
            for k in range(4)
        ]
        i, f, o = (b("Sigmoid", z[k]) for k in (0, 1, 3))
        c = b("Add", b("Mul", f, c), b("Mul", i, b("Tanh", z[2])))
        h = b("Mul", o, b("Tanh", c))
    assert b.ops(h)["LSTM"] == 1


def test_an_lstm_of_hard_sigmoids_is_found():
    b = Builder()
    w, r, bias, _ = b.weights(4)
    h = c = zeros(b)
    for x in b.steps():
        z = b("Add", b("Add", b("MatMul", x, w), b("MatMul", h, r)), bias)
        i, f, g, o = b("Split", z, n=4, axis=1)
        i, f, o = (b("HardSigmoid", v, alpha=0.2, beta=0.5) for v in (i, f, o))
        c = b("Add", b("Mul", f, c), b("Mul", i, b("Tanh", g)))
        h = b("Mul", o, b("Tanh", c))
    result = b.ops(h)
    assert result["LSTM"] == 1 and "HardSigmoid" not in result


@pytest.mark.parametrize("rows", [1, 2])
def test_an_lstm_unrolled_by_torch_is_found(rows):
    """The input's product is computed for all steps at once; results are stacked."""
    b = Builder(rows)
    w, r, bias, second = b.weights(4)
    sequence = b("Transpose", "x", perm=[1, 0, 2])
    products = b("Add", b("MatMul", sequence, w), bias)
    h = c = zeros(b)
    results = []
    for t in range(T):
        x = b("Gather", products, np.asarray(t), axis=0)
        h, c = lstm_cell(b, b("Add", b("Gemm", h, r, second), x), c)
        results.append(b("Unsqueeze", h, np.int64([0])))
    result = b.ops(b("Concat", *results, axis=0))
    assert result["LSTM"] == 1 and "Split" not in result and "MatMul" not in result


def test_an_lstm_of_tensorflow_with_joined_x_and_h_is_found():
    """BasicLSTMCell: concat([x, h]) @ W, gates i, g, f, o, the forget gate's bias raised by 1."""
    b = Builder(2)
    w, r, bias, _ = b.weights(4)
    both = b.constant(np.concatenate([b.constants[w], b.constants[r]]))
    h = c = zeros(b)
    for t in range(T):
        x = b("Slice", "x", np.int64([t]), np.int64([t + 1]), np.int64([1]))
        x = b("Reshape", x, np.int64([2, K]))
        z = b("Gemm", b("Concat", x, h, axis=1), both, bias)
        i, g, f, o = b("Split", z, n=4, axis=1)
        f = b("Sigmoid", b("Add", f, np.float32([1])))
        c = b("Add", b("Mul", c, f), b("Mul", b("Tanh", g), b("Sigmoid", i)))
        h = b("Mul", b("Tanh", c), b("Sigmoid", o))
    assert b.ops(h)["LSTM"] == 1


@pytest.mark.parametrize("form", ["rest first", "rest last", "difference"])
@pytest.mark.parametrize("one_gate", [False, True])
def test_a_gru_with_an_inverted_update_gate_is_found(form, one_gate):
    """h is (1 - z) * h + z * n, with z and r from joined x and h, or one gate for both."""
    b = Builder(2)
    w, r, bias, _ = b.weights(3)
    both = np.concatenate([b.constants[w], b.constants[r]])
    *zr, of_new = (b.constant(v) for v in np.split(both, 3, 1))
    of_z, of_r = zr[:1] * 2 if one_gate else zr
    h = zeros(b)
    for x in b.steps():
        joined = b("Concat", x, h, axis=1)
        z = b("Sigmoid", b("MatMul", joined, of_z))
        reset = z if one_gate else b("Sigmoid", b("MatMul", joined, of_r))
        new = b("Tanh", b("MatMul", b("Concat", x, b("Mul", reset, h), axis=1), of_new))
        if form == "difference":
            h = b("Add", h, b("Mul", z, b("Sub", new, h)))
        else:
            parts = [b("Mul", b("Sub", np.float32([1]), z), h), b("Mul", z, new)]
            h = b("Add", *parts[:: 1 if form == "rest first" else -1])
    result = b.ops(h)
    assert result["GRU"] == 1 and "Tanh" not in result


def test_an_lstm_with_coupled_gates_is_found():
    b = Builder()
    w, r, bias, _ = b.weights(3)
    h = c = zeros(b)
    for x in b.steps():
        z = b("Add", b("Add", b("MatMul", x, w), b("MatMul", h, r)), bias)
        i, o, new = b("Split", z, n=3, axis=-1)
        i, o = b("Sigmoid", i), b("Sigmoid", o)
        kept = b("Mul", b("Sub", np.float32([1]), i), c)
        c = b("Add", kept, b("Mul", i, b("Tanh", new)))
        h = b("Mul", o, b("Tanh", c))
    assert b.ops(h)["LSTM"] == 1


def test_states_may_be_inputs_and_outputs():
    b = Builder()
    w, r, bias, _ = b.weights(4)
    h, c = "h", "c"
    for x in b.steps():
        z = b("Add", b("Add", b("MatMul", x, w), b("MatMul", h, r)), bias)
        h, c = lstm_cell(b, z, c)
    b.nodes.append(node("Identity", c, "z"))
    inputs = {"x": randn(1, T, K), "h": randn(1, H), "c": randn(1, H, seed=1)}
    assert b.ops(h, inputs, outputs="y z")["LSTM"] == 1


def test_backward_layers_and_inner_results_are_found():
    b = Builder(2)
    first, _ = keras_lstm(b, b.steps())
    second, _ = keras_lstm(b, first, H)
    back, _ = keras_lstm(b, first[::-1], H)
    total = b("Add", second[-1], b("Add", back[-1], first[2]))
    result = b.ops(total)
    assert result["LSTM"] == 3 and "Tanh" not in result


@pytest.mark.parametrize("form", ["torch", "keras", "reset before"])
def test_a_gru_is_found(form):
    b = Builder(2)
    w, r, bias, second = b.weights(3)
    h = zeros(b)
    results = []
    for x in b.steps():
        ix, hx = b("Gemm", x, w, bias), b("Gemm", h, r, second)
        zr_x, n_x = b("Split", ix, np.int64([2 * H, H]), n=2, axis=1)
        zr_h, n_h = b("Split", hx, np.int64([2 * H, H]), n=2, axis=1)
        z, reset = b("Split", b("Sigmoid", b("Add", zr_x, zr_h)), n=2, axis=1)
        if form == "reset before":
            r_n = b.constants[r][:, 2 * H :]
            n = b("Tanh", b("Add", n_x, b("MatMul", b("Mul", reset, h), r_n)))
        else:
            n = b("Tanh", b("Add", n_x, b("Mul", n_h, reset)))
        if form == "torch":
            h = b("Add", b("Mul", b("Sub", h, n), z), n)
        else:
            h = b("Add", b("Mul", z, h), b("Mul", b("Sub", np.float32([1]), z), n))
        results.append(b("Unsqueeze", h, np.int64([1])))
    result = b.ops(b("Concat", *results, axis=1))
    assert result["GRU"] == 1


@pytest.mark.parametrize("function", ["Tanh", "Relu"])
def test_an_rnn_is_found(function):
    b = Builder()
    w, r, bias, second = b.weights(1)
    h = zeros(b)
    for x in b.steps():
        h = b(function, b("Add", b("Gemm", x, w, bias), b("Gemm", h, r, second)))
    result = b.ops(h)
    assert result["RNN"] == 1 and function not in result


def test_steps_of_different_weights_stay():
    b = Builder()
    h = zeros(b)
    for x in b.steps():
        w, r, bias, _ = b.weights(1)
        w = b.constant(b.constants[w] * np.float32(1 + len(b.nodes)))
        h = b("Tanh", b("Add", b("MatMul", x, w), b("Gemm", h, r, bias)))
    assert "RNN" not in b.ops(h)


def test_steps_out_of_order_stay():
    b = Builder()
    w, r, bias, _ = b.weights(1)
    h = zeros(b)
    steps = b.steps()
    for t in (0, 2, 4, 1, 3):
        h = b("Tanh", b("Add", b("MatMul", steps[t], w), b("Gemm", h, r, bias)))
    assert "RNN" not in b.ops(h)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("place", [np.array(-1), np.array([1])], ids=["scalar", "kept"])
def test_a_single_position_is_not_a_recurrence(axis, place):
    """For example `x[..., -1]` behind a convolution: its features are another axis."""
    b = Builder()
    one = b("Gather", b("Conv", "x", b.constant(randn(6, 4, 1))), place, axis=axis)
    shape = [5, 6, 7]
    shape[axis : axis + 1] = place.shape
    hidden = one
    for k in (shape[-1], 3, 3):
        hidden = b("Tanh", b("MatMul", hidden, randn(k, 3)))
    result = b.ops(hidden, {"x": randn(5, 4, 7)})
    assert result["Conv"] == 1 and not {"LSTM", "GRU", "RNN"} & set(result)
