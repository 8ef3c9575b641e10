"""Kernels distances and block_distances agree with numpy in float64 on MicroPython."""

import numpy as np
import pytest

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.file import writer
from tools.converter.ir import Graph, Step, Tensor
from tools.converter.ops._block import unit_mantissas
from tools.converter.ops.distances import decay_words
from tools.converter.plan import plan
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
FLOAT, INT = 1, 6


def case(n, vectors, features, at_once, scale=1.0, seed=3):
    """Return (job, expected output): rows of x, one step."""
    rng = np.random.default_rng(seed)
    arrays = [rng.standard_normal((rows, features)).astype(np.float32) for rows in (n, vectors)]
    return job(*arrays, at_once, scale), expected(*arrays, scale)


def job(x, w, held, scale=1.0, **changed):
    """Return a job of one step with `held` vectors in scratch and some changed parameters."""
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
def test_distances_agree_with_numpy(target):
    """The last group of a sample's vectors is smaller, equal, or a single one."""
    cases = [case(1, 1, 1, 1), case(3, 7, 4, 7), case(3, 7, 4, 3, -0.2), case(2, 9, 33, 3)]
    cases += [case(2, 3, 257, 1, 0.5), case(5, 300, 1, 256), case(1, 2, 40000, 1)]
    result = outputs_of(target, [one for one, _ in cases])
    for got, (_, expected) in zip(result, cases, strict=True):
        assert np.allclose(got, expected.ravel(), rtol=2e-7, atol=0)


@on_targets
def test_overflow_and_nan_are_those_of_numpy(target):
    x = np.array([[3e20, 1], [np.inf, 1], [np.nan, 1], [1e-30, 0]], np.float32)
    w = np.array([[0, 1], [-np.inf, 1], [2e-30, 0]], np.float32)
    [got] = outputs_of(target, [job(x, w, 2)])
    with np.errstate(over="ignore"):
        assert np.array_equal(got, expected(x, w, 1).ravel(), equal_nan=True)


@pytest.mark.parametrize("target", ["unix"], indirect=True)
@pytest.mark.parametrize(
    "changed", [{"features": 5}, {"vectors": 8}, {"at_once": 0}, {"at_once": 4}, {"n": -1}]
)
def test_parameters_that_do_not_fit_are_refused(target, changed):
    x, w = np.zeros((3, 4), np.float32), np.zeros((7, 4), np.float32)
    [outcome] = run_jobs(target, [job(x, w, 3, **changed)])
    assert outcome.error == "ModelError"


def block_job(x, w, scale=1.0, gamma=None, words=None, **changed):
    """Return a job of one block step: distances, or exponentials if there is a gamma.

    The scratch has `words`; some parameters may be changed.
    """
    held, exponent = unit_mantissas(w)
    words = x.shape[1] + 2 + 3 * min(len(w), 128) if words is None else words
    a, out = Tensor("a", FLOAT, x.shape), Tensor("o", FLOAT, (len(x), len(w)))
    b, work = Tensor("b", INT, w.shape), Tensor("w", INT, (words,))
    about = {"n": len(x), "vectors": len(w), "features": x.shape[1], "exponent": exponent}
    about["scale"] = int(np.float32(scale).view(np.int32))
    about["decay"] = list(decay_words(gamma)) if gamma else [0, 0]
    step = Step.of("block_distances", [a, b], [out], scratch=[work], **{**about, **changed})
    graph = Graph([a, b], [out], [step])
    return Job(writer.model_bytes(graph, plan(graph).arena_bytes), [[x.tobytes(), held.tobytes()]])


def normal(*shape, seed=4):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


SHAPES = [(1, 1, 1), (3, 7, 4), (2, 130, 8), (2, 300, 9), (3, 5, 1000)]


@on_targets
def test_block_distances_are_within_their_error(target):
    """A number's error is half a unit: 2**-27 of the largest number."""
    pairs = [(normal(n, k), normal(v, k, seed=5)) for n, v, k in SHAPES]
    for got, (x, w) in zip(outputs_of(target, [block_job(*p) for p in pairs]), pairs, strict=True):
        apart = x.astype(np.float64)[:, None] - w
        unit = 2.0 ** (np.frexp(max(np.abs(x).max(), np.abs(w).max()))[1] - 27)
        error = 2 * unit * np.abs(apart).sum(2).ravel() + x.shape[1] * unit**2
        expected = (apart**2).sum(2).ravel()
        assert (np.abs(got - expected) <= error + expected * 2.0**-23).all()


@on_targets
def test_equal_rows_have_no_distance(target):
    w = normal(9, 6) * np.float32(3e-39)
    for size in (1, 1e20, 1e38):
        x = (w.astype(np.float64) * size).astype(np.float32)
        [got] = outputs_of(target, [block_job(x, x)])
        assert (np.diag(got.reshape(9, 9)) == 0).all()


@on_targets
def test_rows_may_be_larger_than_the_vectors(target):
    x, w = normal(4, 5), normal(3, 5, seed=5)
    for size in (3e1, 1e4, 1e9, 1e15):
        [got] = outputs_of(target, [block_job(x * np.float32(size), w, -0.5)])
        exact = expected(x * np.float32(size), w, -0.5).ravel()
        assert np.allclose(got, exact, rtol=1e-6, atol=0)


@on_targets
def test_infinities_and_nan_are_right(target):
    x = np.array([[3e30, 1], [np.inf, 1], [np.nan, 1], [-np.inf, np.nan], [0, 0]], np.float32)
    w = np.array([[0, 1], [3, 1]], np.float32)
    result, powers = outputs_of(target, [block_job(x, w, -2.0), block_job(x, w, gamma=0.25)])
    with np.errstate(over="ignore"):
        assert np.array_equal(result, expected(x, w, -2).ravel(), equal_nan=True)
    exact = [0] * 4 + [np.nan] * 4 + list(np.exp([-0.25, -2.5]))
    assert np.allclose(powers, exact, rtol=1e-6, atol=0, equal_nan=True)


@on_targets
def test_exponentials_of_distances_are_right(target):
    """They are within 1e-6 of the exact ones of the float32 sums."""
    x, w = normal(5, 6), normal(140, 6, seed=5)
    for gamma in (1e-9, 0.03, 1.0, 7.7, 3e3):
        sums, powers = outputs_of(target, [block_job(x, w), block_job(x, w, gamma=gamma)])
        expected = np.exp(-gamma * sums.astype(np.float64))
        assert (np.abs(powers - expected) <= 1e-6 * expected + 2.0**-149).all()


@pytest.mark.parametrize("target", ["unix"], indirect=True)
@pytest.mark.parametrize(
    "changed",
    [
        {"features": 5},
        {"vectors": 8},
        {"n": -1},
        {"exponent": 0},
        {"exponent": 255},
        {"words": 26},
        {"decay": [5, 1]},
        {"decay": [1 << 29, 201]},
        {"decay": [1 << 29, 20], "scale": 0x40000000},
    ],
)
def test_block_parameters_that_do_not_fit_are_refused(target, changed):
    [outcome] = run_jobs(target, [block_job(normal(3, 4), normal(7, 4), **changed)])
    assert outcome.error == "ModelError"


@on_targets
def test_features_of_different_units_keep_their_digits(target):
    """A feature counts with at least 21 bits of its own in a step without larger ones."""
    w = normal(9, 4) * np.float32([1000, 1e-3, 1, 1e3])
    x = w[:3] + np.float32([0, 1e-4, 1e-2, 0]) * normal(3, 4, seed=6)
    converted = convert(distances_model(w, x.shape), Options(strip=True))
    assert [s.kernel for s in converted.graph.steps].count("block_distances") == 3
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes()]])])
    got = np.frombuffer(outcome.runs[0].outputs[0], np.float32)
    apart = x.astype(np.float64)[:, None] - w
    error = 2 * (np.abs(apart) * np.abs(w).max(0)).sum(2).ravel() * 2.0**-21
    expected = (apart**2).sum(2).ravel()
    assert (np.abs(got - expected) <= error + expected * 2.0**-22).all()


def distances_model(w, shape):
    nodes = [("CDist", "x w", "y", {"domain": "com.microsoft"})]
    ends = [small.value("x", shape)], [small.value("y", (shape[0], len(w)))]
    return small.model(nodes, *ends, 18, w=w)


@on_targets
def test_a_damaged_file_does_no_harm(target):
    data = convert(distances_model(normal(7, 4), (2, 4)), Options(strip=True)).data
    for mode, amount in (("words", "2"), ("contents", "1"), ("several", "200")):
        report = small.damage(target, data, mode, amount)
        assert report.ok, report
