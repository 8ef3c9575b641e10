"""Kernel distances on MicroPython, against numpy in float64."""

import numpy as np
import pytest

from tools.converter.file import writer
from tools.converter.ir import Graph, Step, Tensor
from tools.converter.plan import plan
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
FLOAT = 1


def case(n, vectors, features, at_once, scale=1.0, seed=3):
    """(job, what it must give): rows of x, one step."""
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal((rows, features)).astype(np.float32) for rows in (n, vectors)]
    return job(*arrays, at_once, scale), expected(*arrays, scale)


def job(x, w, held, scale=1.0, **changed):
    """held: vectors in the scratch; changed: parameters that do not fit."""
    shapes = [x.shape, w.shape, (len(x), len(w)), (held * x.shape[1],)]
    a, b, out, work = map(Tensor, "abow", [FLOAT] * 4, shapes)
    about = {"n": len(x), "vectors": len(w), "features": x.shape[1], "at_once": held}
    about["scale"] = int(np.float32(scale).view(np.int32))
    step = Step.of("distances", [a, b], [out], scratch=[work], **{**about, **changed})
    graph = Graph([a, b], [out], [step])
    data = writer.model_bytes(graph, plan(graph).arena_bytes)
    return Job(data, [[x.tobytes(), w.tobytes()]])


def expected(x, w, scale):
    apart = (x[:, None] - w[None]).astype(np.float64)
    return ((apart**2).sum(2).astype(np.float32) * np.float32(scale)).astype(np.float32)


def outputs_of(target, jobs):
    outcomes = run_jobs(target, jobs)
    assert not any(o.error for o in outcomes), [o.message for o in outcomes if o.error]
    return [np.frombuffer(o.runs[0].outputs[0], np.float32) for o in outcomes]


@on_targets
def test_against_numpy(target):
    """The last vectors of a sample are fewer than the others, the same, or one."""
    cases = [case(1, 1, 1, 1), case(3, 7, 4, 7), case(3, 7, 4, 3, -0.2), case(2, 9, 33, 3)]
    cases += [case(2, 3, 257, 1, 0.5), case(5, 300, 1, 256), case(1, 2, 40000, 1)]
    found = outputs_of(target, [one for one, _ in cases])
    for got, (_, wanted) in zip(found, cases, strict=True):
        assert np.allclose(got, wanted.ravel(), rtol=2e-7, atol=0)


@on_targets
def test_what_leaves_float32(target):
    x = np.array([[3e20, 1], [np.inf, 1], [np.nan, 1], [1e-30, 0]], np.float32)
    w = np.array([[0, 1], [-np.inf, 1], [2e-30, 0]], np.float32)
    [got] = outputs_of(target, [job(x, w, 2)])
    with np.errstate(over="ignore"):
        assert np.array_equal(got, expected(x, w, 1).ravel(), equal_nan=True)


@pytest.mark.parametrize("target", ["unix"], indirect=True)
@pytest.mark.parametrize(
    "changed", [{"features": 5}, {"vectors": 8}, {"at_once": 0}, {"at_once": 4}, {"n": -1}]
)
def test_what_does_not_fit_is_refused(target, changed):
    x, w = np.zeros((3, 4), np.float32), np.zeros((7, 4), np.float32)
    [outcome] = run_jobs(target, [job(x, w, 3, **changed)])
    assert outcome.error == "ModelError"
