"""Random numbers on MicroPython: their distribution, and that a load repeats them."""

import numpy as np
import onnx
import pytest
from onnx import helper

from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
N = 4000


def model_of(op, inputs, out_dtype, out_shape, **attrs):
    infos = [
        helper.make_tensor_value_info(f"x{i}", onnx.TensorProto.FLOAT, x.shape)
        for i, x in enumerate(inputs)
    ]
    node = helper.make_node(op, [i.name for i in infos], ["y"], **attrs)
    dtype = helper.np_dtype_to_tensor_dtype(np.dtype(out_dtype))
    out = helper.make_tensor_value_info("y", dtype, out_shape)
    graph = helper.make_graph([node], "g", infos, [out])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=8)


def draws(target, op, inputs=(), np_dtype=np.float32, out_shape=(N,), **attrs):
    """Two runs after one load."""
    data = convert(model_of(op, inputs, np_dtype, out_shape, **attrs), Options(strip=True)).data
    sample = [x.tobytes() for x in inputs]
    (outcome,) = run_jobs(target, [Job(data, [sample, sample])])
    assert not outcome.error, outcome.message
    return [np.frombuffer(run.outputs[0], np_dtype) for run in outcome.runs]


@on_targets
def test_uniform(target):
    a, b = draws(target, "RandomUniform", shape=[N], low=-2.0, high=6.0, seed=3.0)
    assert -2 <= a.min() and a.max() < 6
    assert len(np.unique(a)) > 0.99 * N and not np.array_equal(a, b)
    counts = np.histogram(np.concatenate([a, b]), 8, (-2, 6))[0]
    assert np.abs(counts - N / 4).max() < 5 * np.sqrt(N / 4)
    again, _ = draws(target, "RandomUniform", shape=[N], low=-2.0, high=6.0, seed=3.0)
    other, _ = draws(target, "RandomUniform", shape=[N], low=-2.0, high=6.0, seed=4.0)
    assert np.array_equal(a, again) and not np.array_equal(a, other)


@on_targets
def test_normal(target):
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
def test_multinomial(target):
    logits = np.log(np.array([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-9]], np.float32))
    size = N // 2
    a, b = draws(target, "Multinomial", [logits], np.int32, (2, size), sample_size=size, dtype=6)
    both = np.stack([a, b]).reshape(2, 2, -1)
    for row, shares in enumerate([(0.1, 0.2, 0.7), (0.5, 0.5, 0)]):
        got = np.bincount(both[:, row].reshape(-1), minlength=3) / N
        np.testing.assert_allclose(got, shares, atol=0.04)
