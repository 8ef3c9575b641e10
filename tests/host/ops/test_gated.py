"""Recurrent layers in fixed point agree with float64 up to the largest sizes; their table."""

from __future__ import annotations

import numpy as np
import pytest

from tests.host.ops.recurrent_case import GATES, model_of
from tools.converter.convert import convert
from tools.converter.numbers.gate_table import gate_table, interval, sigmoid_of
from tools.harness import Job, run_jobs

TOLERANCE = 1e-6  # of the largest h, or of 1
# Operator, items of x, of h, attributes.
LAYERS = [
    ("LSTM", 3, 10, {}),
    ("LSTM", 121, 4, {}),
    ("LSTM", 480, 2, {}),
    ("LSTM", 2, 240, {}),
    ("GRU", 5, 7, {}),
    ("GRU", 250, 3, {}),
    ("GRU", 2, 130, {}),
    ("GRU", 5, 7, {"linear_before_reset": 1}),
    ("GRU", 120, 3, {"linear_before_reset": 1}),
    ("GRU", 2, 241, {"linear_before_reset": 1}),
    ("RNN", 3, 8, {}),
    ("RNN", 120, 6, {}),
    ("RNN", 3, 8, {"activations": ["Relu"]}),
    ("RNN", 1, 120, {"activations": ["Relu"]}),
]
STEPS, BATCH = 6, 2


def sigmoid(v):
    return 1 / (1 + np.exp(-v))


def step(op, x, h, c, weights, attributes):
    """Return (h, c) in float64."""
    w, r, b = weights
    n = h.shape[1]
    of_x, of_h = x @ w.T + b[: len(w)], h @ r.T + b[len(w) :]
    if op == "RNN":
        v = of_x + of_h
        return (np.maximum(v, 0) if attributes else np.tanh(v)), c
    if op == "LSTM":
        i, o, f, g = np.split(of_x + of_h, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        return sigmoid(o) * np.tanh(c), c
    z, reset = sigmoid(of_x[:, :n] + of_h[:, :n]), sigmoid(of_x + of_h)[:, n : 2 * n]
    if attributes:
        v = of_x[:, 2 * n :] + reset * of_h[:, 2 * n :]
    else:
        v = of_x[:, 2 * n :] + (reset * h) @ r[2 * n :].T + b[-n:]
    return (1 - z) * np.tanh(v) + z * h, c


def case(op, width, hidden, attributes):
    """Return (job, the exact Y)."""
    rng = np.random.default_rng([width, hidden, len(attributes)])
    rows = GATES[op] * hidden

    def draw(*shape, size=1.0):
        return rng.normal(0, size, shape).astype(np.float32)

    values = {"X": draw(STEPS, BATCH, width), "W": draw(1, rows, width, size=width**-0.5)}
    values |= {"R": draw(1, rows, hidden, size=hidden**-0.5), "B": draw(1, 2 * rows)}
    values["h0"] = draw(1, BATCH, hidden, size=2.0)
    if op == "LSTM":
        values["c0"] = draw(1, BATCH, hidden, size=40.0)  # c is beyond 64 in some
    names = ["W", "R", "B"]
    model = model_of(op, values, names, ["Y"], 14, {**attributes, "hidden_size": hidden})
    converted = convert(model)
    assert [s.kernel for s in converted.graph.steps] == ["gated"]
    job = Job(converted.data, [[values[t.name].tobytes() for t in converted.graph.inputs]])
    x, w, r, b, h, *c = (v.astype(np.float64) for v in values.values())
    h, c, result = h[0], c[0][0] if c else None, []
    for t in range(STEPS):
        h, c = step(op, x[t], h, c, (w[0], r[0], b[0]), attributes)
        result.append(h)
    return job, np.array(result)


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_layers_agree_with_float64(target):
    cases = [case(*layer) for layer in LAYERS]
    outcomes = run_jobs(target, [job for job, _ in cases])
    for layer, (_, expected), outcome in zip(LAYERS, cases, outcomes, strict=True):
        assert not outcome.error, (layer, outcome.message)
        got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(expected.shape)
        error = np.abs(got - expected).max() / max(np.abs(expected).max(), 1)
        assert error < TOLERANCE, (layer, error)


def test_the_table_of_sigmoid_is_exact():
    """It is within 2**-26, and below 1, which gates cannot represent."""
    t = np.arange(0, 1 << 23, 997)
    for i, (c0, c1, rest) in enumerate(gate_table().tolist()):
        first, width = interval(i)
        result = sigmoid_of([c0, c1, rest >> 16, (rest & 0xFFFF) - (1 << 15)], t)
        expected = 1 / (1 + np.exp(-(first + width * t / (1 << 23))))
        assert np.abs(result / (1 << 29) - expected).max() < 2**-26
        assert result.max() < 1 << 29
