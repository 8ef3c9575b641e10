"""Optimizers of ai.onnx.preview.training on MicroPython, against their formulas in doubles."""

import numpy as np
import pytest
from onnx import helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

DOMAIN = "ai.onnx.preview.training"
rng = np.random.default_rng(17)
X, G, V = (rng.standard_normal(5).astype(np.float32) for _ in range(3))
H = np.abs(V)
RATE = np.float32(0.1)


def run(target, op, count, states, **attrs):
    """Return the new X and states."""
    values = [RATE, np.int64(count), X, G, *states]
    infos = [small.value(f"x{i}", v.shape, v.dtype) for i, v in enumerate(values)]
    outs = [small.value(f"y{i}", [5]) for i in range(1 + len(states))]
    names = [i.name for i in infos]
    node = helper.make_node(op, names, [o.name for o in outs], domain=DOMAIN, **attrs)
    data = convert(small.model([node], infos, outs, 20), Options(strip=True)).data
    (outcome,) = run_jobs(target, [Job(data, [[v.tobytes() for v in values]])])
    assert not outcome.error, outcome.message
    return [np.frombuffer(raw, np.float32) for raw in outcome.runs[0].outputs]


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("count", [0, 3])
def test_updates_agree_with_the_formulas(target, count):
    x, g, v, h = (t.astype(np.float64) for t in (X, G, V, H))
    g = g + 0.01 * x
    momentum = 0.9 * v + (0.5 if count else 1) * g
    attrs = {"alpha": 0.9, "beta": 0.5, "norm_coefficient": 0.01}
    check(
        run(target, "Momentum", count, [V], mode="standard", **attrs), x - 0.1 * momentum, momentum
    )
    nesterov = x - 0.1 * (g + 0.9 * momentum)
    check(run(target, "Momentum", count, [V], mode="nesterov", **attrs), nesterov, momentum)

    first, second = 0.9 * v + 0.1 * g, 0.5 * h + 0.5 * g * g
    rate = 0.1 * np.sqrt(1 - 0.5**count) / (1 - 0.9**count) if count else 0.1
    adam = (x - rate * first / (np.sqrt(second) + 1e-3)) * 0.75
    got = run(target, "Adam", count, [V, H], epsilon=1e-3, norm_coefficient_post=0.25, **attrs)
    check(got, adam, first, second)

    total = h + g * g
    adagrad = x - 0.1 / (1 + 0.2 * count) * g / (np.sqrt(total) + 1e-3)
    attrs = {"decay_factor": 0.2, "epsilon": 1e-3, "norm_coefficient": 0.01}
    check(run(target, "Adagrad", count, [H], **attrs), adagrad, total)


def check(got, *expected):
    for g, w in zip(got, expected, strict=True):
        np.testing.assert_allclose(g, w, rtol=2e-6, atol=1e-6)
