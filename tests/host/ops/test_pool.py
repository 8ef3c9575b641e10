"""Pools and transposed convolutions on MicroPython, against onnxruntime."""

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RNG = np.random.default_rng(5)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def pool(op, shape, opset=22, dtypes=(np.float32,), x=None, **attrs):
    return Node(op, [floats(*shape) if x is None else x], attrs, opset, dtypes=dtypes)


IMAGE, LINE, BLOCK = (2, 3, 7, 9), (1, 2, 11), (1, 2, 5, 6, 4)


@on_targets
def test_average_and_norm_pools_agree(target):
    cases = [
        pool("AveragePool", LINE, 7, kernel_shape=[3], strides=[2], pads=[1, 1]),
        pool("AveragePool", BLOCK, 11, kernel_shape=[2, 3, 2], auto_pad="SAME_LOWER"),
        pool("AveragePool", IMAGE, 19, kernel_shape=[2, 3], dilations=[3, 2], pads=[1, 2, 0, 1]),
        pool("LpPool", IMAGE, 18, kernel_shape=[3, 2], pads=[1, 0, 1, 1], strides=[2, 2]),
        pool("LpPool", LINE, 18, kernel_shape=[3], p=3, dilations=[2]),
        pool("LpPool", IMAGE, 11, kernel_shape=[3, 2], p=1, auto_pad="SAME_UPPER"),
    ]
    for counted in (0, 1):
        options = {"kernel_shape": [3, 4], "pads": [1, 1, 1, 0], "count_include_pad": counted}
        cases.append(pool("AveragePool", IMAGE, 10, **options))
        cases.append(pool("AveragePool", IMAGE, strides=[3, 3], ceil_mode=1, **options))
    compare(target, cases)


@on_targets
def test_max_pools_with_indices_agree(target):
    both = (np.float32, np.int64)
    cases = [
        pool("MaxPool", LINE, dtypes=both, kernel_shape=[3], strides=[2], pads=[1, 1]),
        pool("MaxPool", IMAGE, 8, dtypes=both, kernel_shape=[2, 3], storage_order=1),
        pool("MaxPool", BLOCK, dtypes=both, kernel_shape=[2, 2, 3], dilations=[1, 2, 1]),
        pool("MaxPool", IMAGE, kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
        pool("MaxPool", IMAGE, kernel_shape=[2, 2], auto_pad="SAME_UPPER", strides=[2, 2]),
    ]
    for dtype in (np.int8, np.uint8):
        x = (RNG.integers(0, 256, IMAGE) - (128 if dtype == np.int8 else 0)).astype(dtype)
        options = {"kernel_shape": [3, 2], "pads": [1, 1, 0, 0]}
        cases.append(pool("MaxPool", IMAGE, dtypes=(dtype, np.int64), x=x, **options))
    compare(target, cases, rtol=0, atol=0)


@on_targets
def test_a_window_of_minus_infinities_has_that_maximum(target):
    x = np.array([[[-np.inf, -3e38, -np.inf, -np.inf, -1, np.inf, 0]]], np.float32)
    expected = np.maximum(x[..., 1:], x[..., :-1])  # onnxruntime takes the least float for -inf
    compare(target, [pool("MaxPool", x.shape, x=x, kernel_shape=[2])], [[expected]])


def transposed(shape, w_shape, bias=0, constant=True, opset=11, **attrs):
    inputs = [floats(*shape), floats(*w_shape)] + ([floats(bias)] if bias else [])
    return Node("ConvTranspose", inputs, attrs, opset, (1,) if constant else ())


@on_targets
def test_conv_transpose_agrees(target):
    cases = [
        transposed((2, 3, 6), (3, 4, 3), 4, strides=[2], pads=[1, 1], output_padding=[1]),
        transposed((1, 4, 3, 4), (4, 3, 3, 2), 6, group=2, strides=[2, 3], pads=[1, 0, 0, 1]),
        transposed((1, 2, 4, 4), (2, 3, 3, 3), dilations=[2, 3], strides=[2, 2], constant=False),
        transposed(
            (1, 2, 4, 4), (2, 3, 3, 3), 3, dilations=[2, 2], strides=[4, 3], constant=False
        ),
        transposed((1, 2, 3, 3), (2, 2, 1, 1), 2, strides=[3, 2]),  # phases without a tap
        transposed((1, 2, 3, 4, 2), (2, 1, 2, 3, 2), 1, strides=[2, 1, 2]),
        transposed((1, 2, 5, 5), (2, 2, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2]),
        transposed((1, 2, 5, 5), (2, 2, 3, 3), auto_pad="SAME_LOWER", strides=[2, 2]),
        transposed((1, 2, 5, 5), (2, 2, 3, 3), strides=[3, 2], output_shape=[14, 10]),
    ]
    # Values of an image share an exponent: errors are those of the largest, which is 3 to 6 here.
    compare(target, cases, rtol=0, atol=6e-6)
