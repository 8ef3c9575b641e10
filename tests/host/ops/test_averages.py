"""Means of windows of float32, and other convolutions of one channel, agree with float64."""

import numpy as np

from mpconnxr.loops import averages
from tests.host.loop_calls import calls
from tests.host.ops.against_ort import Node, compare
from tests.host.ops.single_node import INF, NAN, on_targets

rng = np.random.default_rng(12)


def windows(x, kernel_shape, strides=(1, 1), dilations=(1, 1), pads=(0, 0, 0, 0)):
    """Return (planes, oh, ow, kh, kw), NaN where a window is outside of its plane."""
    x = np.pad(
        x.astype(np.float64)[0], ((0, 0), pads[::2], pads[1::2]), constant_values=np.float64(NAN)
    )
    reach = [(k - 1) * d + 1 for k, d in zip(kernel_shape, dilations, strict=True)]
    result = np.lib.stride_tricks.sliding_window_view(x, reach, (1, 2))
    return result[:, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]


SHAPES = (
    {"kernel_shape": [3, 3]},
    {"kernel_shape": [2, 2], "strides": [2, 2]},
    {"kernel_shape": [8, 8], "strides": [3, 1]},
    {"kernel_shape": [1, 5], "strides": [1, 2], "pads": [0, 2, 0, 1]},
    {"kernel_shape": [3, 2], "pads": [1, 1, 2, 0], "strides": [2, 1]},
    {"kernel_shape": [2, 3], "dilations": [3, 2], "pads": [2, 3, 1, 3]},
)


@on_targets
def test_means_of_windows_agree_with_float64(target):
    nodes, expected = [], []
    for scale in (1.0, 1e30, 1e-30):
        x = (rng.standard_normal((1, 3, 12, 17)) * scale).astype(np.float32)
        for shape in SHAPES:
            mean = np.nanmean(windows(x, **shape), (3, 4))[None]
            nodes.append(Node("AveragePool", [x], shape, 19))
            expected.append([mean.astype(np.float32)])
    for node, [want] in zip(nodes, expected, strict=True):
        most = float(np.abs(node.inputs[0]).max())
        compare(target, [node], [[want]], rtol=3e-7, atol=most * 2**-24)


@on_targets
def test_means_of_extreme_floats_agree_with_float64(target):
    shape = {"kernel_shape": [2, 2]}
    top = np.finfo(np.float32).max
    few = np.full((1, 1, 4, 9), top, np.float32)
    tiny = (rng.integers(-99, 99, (1, 2, 5, 6)) * 1e-45).astype(np.float32)
    nodes, expected = [], []
    for x in (few, tiny, np.zeros_like(few), -few):
        nodes.append(Node("AveragePool", [x], shape, 19))
        expected.append([windows(x, [2, 2]).mean((3, 4))[None].astype(np.float32)])
    compare(target, nodes, expected, rtol=1.2e-7, atol=1e-45)
    x = rng.standard_normal((1, 2, 6, 6)).astype(np.float32)
    x[0, 0, 1, 1], x[0, 1, 4, 4], x[0, 1, 2, 0] = INF, NAN, -INF
    mean = windows(x, [2, 2]).mean((3, 4))[None].astype(np.float32)
    compare(target, [Node("AveragePool", [x], shape, 19)], [[mean]], rtol=3e-7, atol=1e-6)


@on_targets
def test_convolutions_of_one_channel_agree_with_float64(target):
    """They have one weight, several, or one less than 0."""
    x = rng.standard_normal((1, 1, 9, 11)).astype(np.float32)
    weights = [np.full((3, 2), v, np.float32) for v in (0.3, -0.3, 0.0, 1e-20, 7e9)]
    weights.append(rng.standard_normal((3, 2)).astype(np.float32))
    for pads in ([0, 0, 0, 0], [2, 1, 1, 0]):
        for w in weights:
            node = Node("Conv", [x, w[None, None]], {"pads": pads}, 11, (1,))
            products = np.nansum(windows(x, w.shape, pads=pads) * w.astype(np.float64), (3, 4))
            units = 1 if w.min() == w.max() > 0 else 6
            atol = units * float(np.abs(w).max()) * 2**-22
            compare(target, [node], [[products[None].astype(np.float32)]], 3e-7, atol)


def test_random_calls_have_the_largest_sums():
    """Sums of windows below 2**30, of which those from 2**29 on are rounded."""
    sums = [_sum_of_a_window(call) for call in calls("averages", "results", 300)]
    assert 1 << 29 < max(map(abs, sums)) < 1 << 30


def _sum_of_a_window(call):
    """Return the largest sum of columns that a window of a call covers."""
    x, p = call["x"], call["p"]
    first, step = -(p[averages._LEFT_PADDING] - (1 << 29)), p[averages._COLUMN_DILATION]
    lefts = [first + i * p[averages._COLUMN_STRIDE] for i in range(p[averages._OUT_COLUMNS])]
    columns = range(p[averages._KERNEL_COLUMNS])
    covered = [[left + i * step for i in columns] for left in lefts]
    sums = [sum(x[k] for k in each if 0 <= k < p[averages._COLUMNS]) for each in covered]
    return max(sums, key=abs)
