"""Softmax on the bits of float32: within 1e-6 of doubles, the same bits on every target."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.single_node import INF, NAN, model_of
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

TOLERANCE = 1e-6
LEAST = 2.4e-38  # 2**-125: smaller results may be 0
SHAPE = (40, 7, 3)


def lines(axis):
    """Return lines along the axis of many scales and offsets; in some, elements stand apart."""
    rng = np.random.default_rng(axis + 5)
    scale = 10.0 ** rng.uniform(-3, 3, SHAPE[:1] + (1, 1))
    offset = rng.choice([0, 0, 1, -1, 20, -60, 100, -130, 1e4, -1e6], SHAPE[:1] + (1, 1))
    x = rng.normal(0, 1, SHAPE) * scale + offset
    x[::5, 2, 1] = -INF
    x[1::5, 3, :] = -1e9
    x[2::5, :, 2] = -3.4e38
    x[3::5, 1, 1] += 100
    return x.astype(np.float32)


def softmax(x, axis):
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def computed(target, x, axis):
    converted = convert(model_of("Softmax", [x], axis=axis), Options(strip=True))
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes()]])])
    assert not outcome.error, outcome.message
    return np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(x.shape)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_shares_are_exact_to_a_millionth(ready_target, axis):
    x = lines(axis)
    results = [computed(ready_target(name), x, axis) for name in UNIX_TARGETS]
    np.testing.assert_allclose(results[0], softmax(x, axis), TOLERANCE, LEAST)
    for other in results[1:]:
        np.testing.assert_array_equal(other.view(np.int32), results[0].view(np.int32))


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_lines_without_a_largest_are_nan(target):
    x = np.zeros((5, 4), np.float32)
    x[0, 1], x[1, 2], x[2, :], x[3, 3] = NAN, INF, -INF, -INF
    with np.errstate(invalid="ignore"):
        expected = softmax(x, 1)
    assert np.isnan(expected[:3]).all() and not np.isnan(expected[3:]).any()
    np.testing.assert_allclose(computed(target, x, 1), expected, TOLERANCE)


def test_long_lines_lose_nothing(ready_target):
    """Each of many elements may add less than 2**-30 of the largest one to the sum."""
    x = np.full((2, 30_000), -22.0, np.float32)
    x[:, 7] = 0
    got = computed(ready_target("unix32"), x, 1)
    np.testing.assert_allclose(got, softmax(x, 1), TOLERANCE)


def test_a_step_allocates_nothing(ready_target):
    nodes = [("Softmax", "x", "y", {})]
    model = small.model(nodes, [small.value("x", (3, 5))], [small.value("y", (3, 5))])
    files = {"model.bin": small.binary(model), "x.bin": small.floats(3, 5).tobytes()}
    for name in ("unix", "unix32"):
        printed = small.run(ready_target(name), small.SCRIPTS / "allocation.py", files)
        assert printed.split()[:2] == ["0", "0"]
