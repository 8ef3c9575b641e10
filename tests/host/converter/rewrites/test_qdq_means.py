"""Means midway between two integers have the same bytes as in onnxruntime.

Quantizers assign an average pool the scale of its input, so that the means of 2, 4 or 6 elements
are often ties, and the last bits of float32 decide.
"""

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.host.converter.rewrites.qdq_net import S8, U8, Net, by_onnxruntime, on_device, rewritten
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

A = 0.031007


def pool(shape, kernel, strides, opset=17, dtype=S8, zero=3, y_scale=A, **attrs):
    net = Net(opset)
    x = net.dq(net.input(shape, dtype), A, zero, dtype)
    y = net.op("AveragePool", x, kernel_shape=kernel, strides=strides, **attrs)
    return net.model(net.q(y, y_scale, zero, dtype)), net.values()


def of_all(op, shape, opset=17, y_scale=A, **attrs):
    net = Net(opset)
    x = net.dq(net.input(shape, S8), A, 3, S8)
    return net.model(net.q(net.op(op, x, **attrs), y_scale, 3, S8)), net.values()


def of_microsoft(zero, kernel, pads=(0, 0, 0, 0), dtype=U8, shape=(1, 5, 16, 16)):
    """Return a model of QLinearAveragePool, which adds its zero point before it rounds."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    inputs = ["x", "scale", "zero", "scale", "zero"]
    attrs = {"kernel_shape": kernel, "strides": kernel, "pads": list(pads)}
    node = helper.make_node("QLinearAveragePool", inputs, ["y"], domain="com.microsoft", **attrs)
    ends = [small.value("x", shape, kind)], [small.value("y", list("nchw"), kind)]
    model = small.model([node], *ends, scale=np.float32(A), zero=np.array(zero, dtype))
    limits = np.iinfo(dtype)
    rng = np.random.default_rng(zero & 255)
    return model, [rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)]


CASES = {
    "2x2": pool((2, 6, 16, 16), [2, 2], [2, 2]),
    "2x2 of opset 21": pool((1, 6, 16, 16), [2, 2], [2, 2], 21),
    "2x2, uint8": pool((1, 6, 16, 16), [2, 2], [2, 2], dtype=U8, zero=131),
    "2x2, overlapping": pool((1, 4, 15, 16), [2, 2], [1, 1]),
    "2x2 to a third": pool((1, 4, 16, 16), [2, 2], [2, 2], y_scale=A / 3),
    "4x4": pool((1, 20, 16, 16), [4, 4], [4, 4]),
    "3x3, padded": pool((1, 6, 16, 16), [3, 3], [2, 2], pads=[1, 1, 1, 1]),
    "3x3, padded, opset 21": pool((1, 6, 16, 16), [3, 3], [2, 2], 21, pads=[1, 1, 1, 1]),
    "2x2, padding counts": pool(
        (1, 6, 15, 15), [2, 2], [2, 2], pads=[1, 1, 0, 0], count_include_pad=1
    ),
    "1-D of 2": pool((1, 16, 40), [2], [2]),
    "1-D of 4": pool((1, 16, 40), [4], [4]),
    "all of 8x8": pool((3, 50, 8, 8), [8, 8], [1, 1]),
    "all of 8x8, stride 2": pool((3, 50, 8, 8), [8, 8], [2, 2]),
    "all of 8x8, stride 8": pool((3, 50, 8, 8), [8, 8], [8, 8]),
    "all of 8x8, opset 21": pool((3, 50, 8, 8), [8, 8], [1, 1], 21),
    "all of 3x6": pool((3, 50, 3, 6), [3, 6], [1, 1], dtype=U8, zero=77),
    "all of 1x2": pool((3, 50, 1, 2), [1, 2], [1, 1]),
    "all of 26": pool((3, 50, 26), [26], [1]),
    "global": of_all("GlobalAveragePool", (4, 99, 8, 8)),
    "global, opset 21": of_all("GlobalAveragePool", (4, 99, 6, 5), 21),
    "global of 1-D to a half": of_all("GlobalAveragePool", (4, 99, 10), y_scale=2 * A),
    "2 of the last axis": of_all("ReduceMean", (99, 5, 2), axes=[2]),
    "12 of the last axes": of_all("ReduceMean", (99, 5, 4, 3), axes=[2, 3]),
    "16 of the first axis": of_all("ReduceMean", (1, 16, 500), axes=[1], keepdims=0),
    "2x3": pool((1, 8, 12, 12), [2, 3], [2, 3]),
    "3-D, 6 of the first dim": pool((2, 3, 12, 5, 6), [6, 1, 1], [1, 1, 1]),
    "3-D, 2 of the first dim": pool((2, 3, 12, 5, 6), [2, 1, 1], [2, 1, 1]),
    "3-D, 4 of the first dim": pool((2, 9, 12, 5, 6), [4, 1, 1], [4, 1, 1]),
    "3-D, 2 of the first dim, padded": pool(
        (2, 3, 11, 5, 6), [2, 1, 1], [1, 1, 1], pads=[1, 0, 0, 1, 0, 0]
    ),
    "3-D, 2x2 of the others": pool((2, 3, 4, 8, 8), [1, 2, 2], [1, 2, 2]),
    "com.microsoft": of_microsoft(128, [2, 2]),
    "com.microsoft, odd": of_microsoft(101, [2, 2]),
    "com.microsoft, small": of_microsoft(7, [1, 2]),
    "com.microsoft, int8": of_microsoft(-3, [4, 4], dtype=S8, shape=(1, 20, 16, 16)),
    "com.microsoft, padded": of_microsoft(9, [3, 3], [1, 1, 1, 1]),
}


def steps_of(model: onnx.ModelProto):
    return [step.kernel for step in convert(model, Options(strip=True)).graph.steps]


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_means_have_onnxruntimes_bytes(target):
    models, inputs = zip(*CASES.values(), strict=True)
    for (name, case), [got] in zip(CASES.items(), on_device(target, models, inputs), strict=True):
        [want] = by_onnxruntime(*case)
        assert got.shape == want.shape and np.array_equal(got, want), name


def test_the_operator_is_a_function_of_onnx_operators():
    """onnxruntime runs the rewritten model, with the outputs of the original."""
    for name, (model, values) in CASES.items():
        [want], [got] = (by_onnxruntime(m, values) for m in (model, rewritten(model)))
        assert np.array_equal(got, want), name


def test_floats_are_used_only_if_ties_are_frequent():
    assert all("qmeans" in steps_of(model) for model, _ in CASES.values())
    for kernel, y_scale in (([3, 3], A), ([2, 2], 0.0277)):
        model, _ = pool((1, 4, 12, 12), kernel, kernel, y_scale=y_scale)
        assert steps_of(model) == ["qaverage_pool"]


def test_damaged_models_do_no_harm(target):
    for name in ("3x3, padded", "com.microsoft"):
        report = small.damage(target, small.binary(CASES[name][0]), "words", "1")
        assert report.ok and report.refused and report.ran, report


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("name", ["3x3, padded", "com.microsoft"])
def test_a_run_allocates_nothing(target, name):
    model, [x] = CASES[name]
    script = (small.SCRIPTS / "allocation.py").read_text()
    files = {"model.bin": convert(model, Options(strip=True)).data, "x.bin": x.tobytes()}
    assert small.run(target, script, files).split()[:2] == ["0", "0"]
