"""Signed bytes become unsigned before matrix products without changing a bit of the outputs."""

import numpy as np
import pytest
from onnx import helper

from tests.host.converter.rewrites.qdq_net import S8, Net, by_onnxruntime, on_device, steps_apart
from tools.converter.convert import Options, convert
from tools.converter.ops._dtypes import INT8, UINT8

every_target = pytest.mark.parametrize(
    "target", ["unix", "unix32", "unix-plain", "mps2-an385-v6m"], indirect=True
)
SCALE, ZERO = 0.05, -7


def product(net, x, k, n=8, of_x=SCALE):
    """Return a quantized dense layer of the dequantized x, which has k channels and scale of_x."""
    y = net.op("MatMul", x, net.weights((k, n)))
    return net.q(net.op("Add", y, net.bias(n, of_x * 0.01)), 0.1, -20)


def shape_of(net, *dims):
    return net.constant(dims, np.int64)


def layers():
    """Return layers that pass bytes on, with a Relu that only saturates."""
    net = Net()
    y = net.dq(product(net, net.dq(net.input((3, 12)), SCALE, ZERO), 12, 16), 0.1, -20)
    y = net.op("Relu", net.op("MatMul", y, net.weights((16, 8))))
    y = net.dq(net.q(y, 0.05, -128), 0.05, -128)
    return net, product(net, y, 8, 5, 0.05)


def moved():
    """Return MaxPool with pads, Pad with the zero point, Transpose and Reshape of bytes."""
    net = Net()
    x = net.qdq(net.input((1, 2, 6, 6), np.float32), SCALE, ZERO)
    y = net.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = net.qdq(y, SCALE, ZERO)
    y = net.qdq(net.op("Pad", y, shape_of(net, 0, 0, 0, 0, 0, 0, 1, 1)), SCALE, ZERO)
    y = net.qdq(net.op("Transpose", y, perm=[0, 2, 3, 1]), SCALE, ZERO)
    y = net.qdq(net.op("Reshape", y, shape_of(net, 4, 8)), SCALE, ZERO)
    return net, product(net, y, 8)


def joined():
    """Return tables, sums with a constant, products and Concat before one layer."""
    net = Net()
    x = net.dq(net.input((2, 8)), SCALE, ZERO)
    a = net.qdq(net.op("Sigmoid", x), 1 / 256, -128)
    fixed = net.dq(net.constant(np.arange(-8, 8).reshape(2, 8) * 9, S8), SCALE, 3)
    b = net.qdq(net.op("Add", x, fixed), 0.087, 5)  # no ratio that gives ties
    c = net.qdq(net.op("Mul", a, b), 0.03, -4)
    y = net.qdq(net.op("Concat", a, b, c, axis=1), 0.091, 1)
    return net, product(net, y, 24, of_x=0.091)


def floats_out():
    """Return a result that nothing quantizes: MatMulInteger."""
    net = Net()
    y = net.dq(product(net, net.dq(net.input((2, 12)), SCALE, ZERO), 12, 16), 0.1, -20)
    return net, net.op("MatMul", y, net.weights((16, 5)))


def pooled():
    """Return means of planes in front of a classifier."""
    net = Net()
    x = net.dq(net.input((1, 8, 4, 4)), SCALE, ZERO)
    y = net.qdq(net.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), SCALE, ZERO)
    y = net.qdq(net.op("GlobalAveragePool", y), 0.02, 9)
    y = net.qdq(net.op("Flatten", y), 0.02, 9)
    y = net.op("Softmax", net.dq(product(net, y, 8, 4, 0.02), 0.1, -20))
    return net, net.q(y, 1 / 256, -128)


NETS = [layers, moved, joined, pooled, floats_out]


def dtypes_read(converted):
    """Return the dtypes that the product steps read, in order."""
    return [s.inputs[0].dtype for s in converted.graph.steps if s.kernel == "qconv"]


@every_target
def test_unsigned_products_change_no_bit(target):
    built = [make() for make in NETS]
    models = [net.model(y) for net, y in built]
    inputs = [net.values() for net, _ in built]
    signed = on_device(target, models, inputs)
    unsigned = on_device(target, models, inputs, level=2)
    for model, xs, [before], [after] in zip(models, inputs, signed, unsigned, strict=True):
        assert before.dtype == after.dtype and len(np.unique(after)) > 3
        np.testing.assert_array_equal(before, after)
        [expected] = by_onnxruntime(model, xs)
        if after.dtype == S8:
            apart = steps_apart(after, expected)
            assert apart.max() <= 1 and np.count_nonzero(apart) <= 1
        else:
            np.testing.assert_allclose(after, expected, 1e-6, 1e-6)


@pytest.mark.parametrize("make", NETS)
def test_products_read_unsigned_rows(make):
    net, y = make()
    converted = convert(net.model(y), Options(strip=True))
    rows = [s for s in converted.graph.steps if s.kernel == "qconv"]
    assert {s.inputs[0].dtype for s in rows} == {UINT8} and not any(s.scratch for s in rows)
    assert set(dtypes_read(convert(net.model(y), Options(strip=True, optimize=1)))) == {INT8}


def test_an_input_is_flipped_in_place_unless_it_is_kept():
    net, y = layers()
    over, beside = (
        convert(net.model(y), Options(strip=True, keep_inputs=kept)).plan.arena_bytes
        for kept in (False, True)
    )
    assert beside == over + 40  # 3 rows of 12 bytes, in units of 8


def test_a_tensor_that_is_an_output_stays():
    net = Net()
    first = product(net, net.dq(net.input((1, 12)), SCALE, ZERO), 12, 16)
    second = product(net, net.dq(first, 0.1, -20), 16, of_x=0.1)
    assert dtypes_read(convert(net.model(second), Options(strip=True))) == [UINT8, UINT8]
    assert dtypes_read(convert(net.model(first, second), Options(strip=True))) == [UINT8, INT8]


def test_a_tensor_with_other_readers_stays():
    net = Net()
    x = net.input((1, 12))
    y = product(net, net.dq(x, SCALE, ZERO), 12)
    z = net.op("Cast", x, to=helper.np_dtype_to_tensor_dtype(np.dtype(np.int32)))
    assert dtypes_read(convert(net.model(y, z), Options(strip=True))) == [INT8]


def test_rows_not_of_a_multiple_of_four_stay():
    net = Net()
    y = product(net, net.dq(net.input((2, 11)), SCALE, ZERO), 11)
    [step] = convert(net.model(y), Options(strip=True)).graph.steps
    assert step.inputs[0].dtype == INT8 and len(step.scratch) == 1
