"""Normalization on the bits of float32: within 1e-6 of doubles, the same bits everywhere."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.single_node import model_of
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

TOLERANCE = 1e-6  # of a row's largest value
ROWS = 60


def rows(n, seed):
    """Return rows of many scales; some have a mean that is far larger than their deviations."""
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.uniform(-6, 6, (ROWS, 1))
    offset = rng.choice([0, 0, 1, -1, 100, -1000, 1e5], (ROWS, 1))
    x = rng.normal(0, 1, (ROWS, n)) * scale + offset * scale
    x[::7, n // 2] *= 1e4
    x[5] = 1e-42 * np.arange(n)
    x[6] = 0
    x[8] = 3e38
    x[9, ::2] = -3e38
    return x.astype(np.float32)


def normalized(x, factors, epsilon, centred=True):
    wide = x.astype(np.float64)
    d = wide - wide.mean(1, keepdims=True) if centred else wide
    y = d / np.sqrt((d * d).mean(1, keepdims=True) + float(np.float32(epsilon)))
    for i, f in enumerate(factors):
        y = y + f if i else y * f
    return y


def computed(target, op, inputs, **attributes):
    out = np.float32, inputs[0].shape
    converted = convert(model_of(op, inputs, out=out, opset=23, **attributes), Options(strip=True))
    [outcome] = run_jobs(target, [Job(converted.data, [[v.tobytes() for v in inputs]])])
    assert not outcome.error, outcome.message
    return np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(inputs[0].shape)


def assert_near(got, exact):
    largest = np.abs(exact).max(1, keepdims=True)
    assert (np.abs(got - exact) <= TOLERANCE * np.maximum(largest, 1e-30)).all()


CASES = [("LayerNormalization", 2), ("LayerNormalization", 1), ("RMSNormalization", 1)]


@pytest.mark.parametrize("op, n_factors", CASES)
@pytest.mark.parametrize("n, epsilon", [(1, 1e-5), (2, 1e-3), (33, 1e-12), (500, 1e-5)])
def test_rows_are_exact_to_a_millionth(ready_target, op, n_factors, n, epsilon):
    rng = np.random.default_rng(n)
    factors = [rng.normal(1, 0.3, n).astype(np.float32) for _ in range(n_factors)]
    x = rows(n, n)
    inputs = [x, *factors]
    results = [computed(ready_target(t), op, inputs, epsilon=epsilon) for t in UNIX_TARGETS]
    assert_near(results[0], normalized(x, factors, epsilon, op[0] == "L"))
    for other in results[1:]:
        np.testing.assert_array_equal(other.view(np.int32), results[0].view(np.int32))


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_channels_have_factors_of_their_own(target):
    rng = np.random.default_rng(8)
    x = rng.normal(3, 2, (2, 3, 4, 5)).astype(np.float32)
    factors = [rng.normal(0, 1, 3).astype(np.float32) for _ in range(2)]
    got = computed(target, "InstanceNormalization", [x, *factors], epsilon=1e-5)
    spread = [np.tile(f, 2)[:, None].astype(np.float64) for f in factors]
    assert_near(got.reshape(6, 20), normalized(x.reshape(6, 20), spread, 1e-5))


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_rows_with_infinities_or_without_variance_become_nan(target):
    x = np.ones((5, 4), np.float32)
    x[0, 1], x[1, 2], x[2] = np.nan, np.inf, [1, 2, 3, 4]
    got = computed(target, "LayerNormalization", [x, np.ones(4, np.float32)], epsilon=0.0)
    assert np.isnan(got[[0, 1, 3, 4]]).all()
    assert_near(got[2:3], normalized(x[2:3], [], 0.0))


def test_a_step_allocates_nothing(ready_target):
    nodes = [("LayerNormalization", "x g b", "y", {})]
    model = small.model(
        nodes,
        [small.value("x", (3, 20))],
        [small.value("y", (3, 20))],
        g=small.floats(20, seed=2),
        b=small.floats(20, seed=3),
    )
    files = {"model.bin": small.binary(model), "x.bin": small.floats(3, 20).tobytes()}
    for name in ("unix", "unix32"):
        printed = small.run(ready_target(name), small.SCRIPTS / "allocation.py", files)
        assert printed.split()[:2] == ["0", "0"]
