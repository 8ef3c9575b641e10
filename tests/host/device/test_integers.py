"""A model of bytes from end to end: onnxruntime's numbers, no allocation, damage does no harm."""

import numpy as np
import pytest
from onnx import helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

KERNELS = {"qconv", "qdepthwise", "qbinary", "qaverage_pool", "lookup", "qsoftmax"}
MS = {"domain": "com.microsoft"}
every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
rng = np.random.default_rng(8)


class Bytes:
    """A graph of quantized nodes, built up node by node."""

    def __init__(self, dtype):
        self.dtype, self.nodes, self.constants = dtype, [], {}

    def fixed(self, value, dtype):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(value, dtype)
        return name

    def of(self, scale, zero, dtype=None):
        return f"{self.fixed(scale, np.float32)} {self.fixed(zero, dtype or self.dtype)}"

    def weights(self, *shape):
        return self.fixed(rng.integers(-127, 128, shape), np.int8)

    def add(self, op, inputs, **attrs):
        out = f"t{len(self.nodes)}"
        self.nodes.append((op, inputs, out, attrs))
        return out

    def model(self, x_shape, y_shape, dtype):
        self.nodes[-1] = (*self.nodes[-1][:2], "y", self.nodes[-1][3])
        inputs, outputs = [small.value("x", x_shape, dtype)], [small.value("y", y_shape, dtype)]
        return small.model(self.nodes, inputs, outputs, **self.constants)


def integers(dtype=np.int8):
    b = Bytes(dtype)
    a, c, d, y = b.of(0.0213, 5), b.of(0.0317, 119), b.of(0.0411, 3), b.of(0.97, 0)
    scales = b.fixed([0.01, 0.02, 0.005, 0.03], np.float32) + " " + b.fixed([0] * 4, np.int8)
    bias = b.fixed([100, -900, 3000, 0], np.int32)
    t = f"x {a} {b.weights(4, 2, 3, 3)} {scales} {c} {bias}"
    t = b.add("QLinearConv", t, group=2, pads=[1, 0, 1, 1], strides=[1, 2])
    t = b.add("QLinearConv", f"{t} {c} {b.weights(5, 4, 1, 1)} {b.of(0.02, 0, np.int8)} {d}")
    t = b.add(
        "QLinearConv",
        f"{t} {d} {b.weights(10, 1, 3, 3)} {b.of(0.03, 0, np.int8)} {c}",
        group=5,
        pads=[1, 2, 1, 0],
        strides=[1, 2],
    )
    t = b.add(
        "QLinearConv",
        f"{t} {c} {b.weights(10, 1, 2, 1)} {b.of(0.02, 3, np.int8)} {d}",
        group=10,
        dilations=[2, 1],
    )
    u = b.add("QLinearAveragePool", f"{t} {d} {c}", kernel_shape=[2, 2], pads=[1, 0, 0, 1], **MS)
    t = b.add("QLinearAdd", f"{t} {d} {u} {c} {a}", **MS)
    u = b.add("QLinearGlobalAveragePool", f"{t} {a} {d}", **MS)
    t = b.add("QLinearMul", f"{t} {a} {u} {d} {c}", **MS)
    t = b.add("QLinearLeakyRelu", f"{t} {c} {d}", **MS)
    t = b.add("Reshape", f"{t} {b.fixed([5, 12], np.int64)}")
    t = b.add("QLinearMatMul", f"{t} {d} {b.weights(12, 3)} {b.of(0.02, 4, np.int8)} {y}")
    b.add("QLinearSoftmax", f"{t} {y} {b.of(1 / 256, np.iinfo(dtype).min)}", opset=17, **MS)
    number = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return b.model((1, 4, 5, 6), (5, 3), number)


def sample(dtype):
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, (1, 4, 5, 6), dtype, endpoint=True)


@every_target
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("args", [(), ("sliced",)])
def test_a_run_allocates_nothing_and_is_right(target, dtype, args):
    model, x = integers(dtype), sample(dtype)
    converted = convert(model, Options(strip=True))
    assert {s.kernel for s in converted.graph.steps} == KERNELS
    assert {len(s.scratch) for s in converted.graph.steps if s.kernel == "qconv"} == {0, 1}
    files = {"model.bin": converted.data, "x.bin": x.tobytes()}
    printed = small.run(target, small.SCRIPTS / "allocation.py", files, args)
    allocated, kept, output = printed.split()
    assert kept == "0"
    # In the plain form the loops themselves are bytecode, with frames that the heap lends them.
    assert allocated == "0" or not target.viper
    got = np.frombuffer(bytes.fromhex(output), dtype)
    np.testing.assert_array_equal(got, small.expected(model, x)[0].ravel())


@pytest.mark.slow
@every_target
@pytest.mark.parametrize(("mode", "amount"), [("words", "3"), ("several", "1000")])
def test_damage_does_no_harm(target, mode, amount):
    report = small.damage(target, small.binary(integers()), mode, amount)
    assert report.ok and report.refused > 100 and report.ran > 100, report
