"""Random numbers on MicroPython: their distribution, and that a load repeats them."""

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
N = 4000


def model_of(op, inputs, out_dtype, out_shape, **attrs):
    infos = [small.value(f"x{i}", x.shape) for i, x in enumerate(inputs)]
    node = helper.make_node(op, [i.name for i in infos], ["y"], **attrs)
    dtype = helper.np_dtype_to_tensor_dtype(np.dtype(out_dtype))
    return small.model([node], infos, [small.value("y", out_shape, dtype)], 20)


def draws(target, op, inputs=(), np_dtype=np.float32, out_shape=(N,), **attrs):
    """Return the outputs of two runs after one load."""
    data = convert(model_of(op, inputs, np_dtype, out_shape, **attrs), Options(strip=True)).data
    sample = [x.tobytes() for x in inputs]
    (outcome,) = run_jobs(target, [Job(data, [sample, sample])])
    assert not outcome.error, outcome.message
    return [np.frombuffer(run.outputs[0], np_dtype) for run in outcome.runs]


@on_targets
def test_uniform_numbers_have_their_distribution(target):
    a, b = draws(target, "RandomUniform", shape=[N], low=-2.0, high=6.0, seed=3.0)
    assert -2 <= a.min() and a.max() < 6
    assert len(np.unique(a)) > 0.99 * N and not np.array_equal(a, b)
    counts = np.histogram(np.concatenate([a, b]), 8, (-2, 6))[0]
    assert np.abs(counts - N / 4).max() < 5 * np.sqrt(N / 4)
    again, _ = draws(target, "RandomUniform", shape=[N], low=-2.0, high=6.0, seed=3.0)
    other, _ = draws(target, "RandomUniform", shape=[N], low=-2.0, high=6.0, seed=4.0)
    assert np.array_equal(a, again) and not np.array_equal(a, other)


@on_targets
def test_normal_numbers_have_their_distribution(target):
    like = np.zeros(N, np.float32)
    a, b = draws(target, "RandomNormalLike", [like], mean=5.0, scale=2.0)
    z = (np.concatenate([a, b]) - 5) / 2
    assert abs(z.mean()) < 0.06 and abs(z.std() - 1) < 0.05
    assert abs((np.abs(z) < 1).mean() - 0.6827) < 0.03
    assert abs(np.corrcoef(z[:-1], z[1:])[0, 1]) < 0.06


@on_targets
def test_bernoulli_draws_one_with_probability_x(target):
    x = np.repeat(np.array([0, 0.1, 0.9, 1], np.float32), N // 4)
    a, b = draws(target, "Bernoulli", [x], np.int32, dtype=onnx.TensorProto.INT32)
    means = ((a + b) / 2).reshape(4, -1).mean(axis=1)
    assert means[0] == 0 and means[3] == 1
    np.testing.assert_allclose(means[1:3], [0.1, 0.9], atol=0.04)


@on_targets
def test_multinomial_draws_have_their_distribution(target):
    logits = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-9]], np.float32))
    size = N // 2
    a, b = draws(target, "Multinomial", [logits], np.int32, (2, size), sample_size=size, dtype=6)
    both = np.stack([a, b]).reshape(2, 2, -1)
    for row, shares in enumerate([(0.1, 0.2, 0.7), (0.5, 0.5, 0)]):
        got = np.bincount(both[:, row].reshape(-1), minlength=3) / N
        np.testing.assert_allclose(got, shares, atol=0.04)


def dropout(dtype, ratio, seed=None, mask=True):
    """Return a model of Dropout in training mode."""
    info = [small.value(n, [5, 131], dtype) for n in "xy"]
    info += [small.value("m", [5, 131], onnx.TensorProto.BOOL)] * mask
    attrs = {} if seed is None else {"seed": seed}
    node = helper.make_node("Dropout", ["x", "r", "t"], ["y", "m"][: 1 + mask], **attrs)
    constants = {"r": np.array(ratio, np.float32), "t": np.array(True)}
    return small.model([node], info[:1], info[1:], 13, **constants)


@on_targets
@pytest.mark.parametrize(
    ("seed", "ratio"), [(0, 0.5), (1, 0.1), (4357, 0.999), (2**32 - 1, 0.25), (-3, 1e-9)]
)
def test_dropout_draws_as_the_reference_implementation_does(target, seed, ratio):
    """The second run after a load continues the sequence of draws."""
    x = np.random.default_rng(2).standard_normal((5, 131)).astype(np.float32)
    data = convert(dropout(onnx.TensorProto.FLOAT, ratio, seed), Options(strip=True)).data
    [outcome] = run_jobs(target, [Job(data, [[x.tobytes()]] * 2)])
    assert not outcome.error, outcome.message
    draws = np.random.RandomState(seed & 0xFFFFFFFF)
    ratio = np.float32(ratio)
    for run in outcome.runs:
        kept = draws.uniform(size=x.shape) >= ratio
        y = np.frombuffer(run.outputs[0], np.float32).reshape(x.shape)
        mask = np.frombuffer(run.outputs[1], bool).reshape(x.shape)
        np.testing.assert_array_equal(mask, kept)
        np.testing.assert_array_equal(y, kept * x * (1 / (1 - ratio)))


def test_dropout_of_doubles_works_without_a_seed(ready_target):
    x = np.ones((5, 131))
    data = convert(dropout(onnx.TensorProto.DOUBLE, 0.75, mask=False), Options(strip=True)).data
    [outcome] = run_jobs(ready_target("unix"), [Job(data, [[x.tobytes()]])])
    y = np.frombuffer(outcome.runs[0].outputs[0])
    assert set(y) == {0, 4} and abs(y.mean() - 1) < 0.4


@pytest.mark.parametrize("ratio", [1.0, -0.5, np.nan])
def test_invalid_dropout_ratios_are_refused(ratio):
    with pytest.raises(UnsupportedModel, match="it must be from 0 to below 1"):
        convert(dropout(onnx.TensorProto.FLOAT, ratio))


@pytest.mark.slow
@on_targets
def test_damaged_dropout_does_no_harm(target):
    data = convert(dropout(onnx.TensorProto.FLOAT, 0.5, 1), Options(strip=True)).data
    for mode, amount in (("words", "1"), ("several", "300")):
        report = small.damage(target, data, mode, amount, timeout=240)
        assert report.ok and report.slowest < 10_000, f"{mode}: {report}"
