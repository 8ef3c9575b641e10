"""GridSample, RoiAlign, DeformConv, Col2Im, AffineGrid on MicroPython, against onnxruntime."""

import itertools

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
rng = np.random.default_rng(11)


def floats(*shape):
    return rng.standard_normal(shape).astype(np.float32)


@on_targets
def test_grid_sample_agrees(target):
    """The grid extends beyond the image by more than one reflection."""
    x, grid = floats(2, 3, 5, 4), (rng.random((2, 4, 3, 2)) * 8 - 4).astype(np.float32)
    deep, deep_grid = floats(1, 2, 3, 4, 3), (rng.random((1, 3, 2, 2, 3)) * 3 - 1.5)
    nodes = []
    for mode, padding, align in itertools.product(
        ("linear", "nearest", "cubic"), ("zeros", "border", "reflection"), (0, 1)
    ):
        attrs = {"mode": mode, "padding_mode": padding, "align_corners": align}
        nodes.append(Node("GridSample", [x, grid], attrs, 20))
        if mode != "cubic":
            nodes.append(Node("GridSample", [deep, deep_grid.astype(np.float32)], attrs, 20))
    nodes.append(Node("GridSample", [x, grid], {"mode": "bicubic"}, 16))
    compare(target, nodes, rtol=1e-4, atol=1e-5)


@on_targets
def test_roi_align_agrees(target):
    x = floats(2, 3, 8, 9)
    regions = np.array([[0, 0, 7, 6], [-3, 1.5, 20, 4], [2, 2, 2.1, 2.2]], np.float32)
    batch = np.array([1, 0, 1])
    nodes = []
    for mode, ratio, opset in itertools.product(("avg", "max"), (0, 2), (10, 16)):
        attrs = {"mode": mode, "sampling_ratio": ratio, "output_height": 2, "output_width": 3}
        attrs["spatial_scale"] = 0.5
        nodes.append(Node("RoiAlign", [x, regions, batch], attrs, opset))
    compare(target, nodes, rtol=1e-4, atol=1e-5)


@on_targets
def test_max_roi_pool_agrees(target):
    x = floats(2, 3, 8, 9)
    regions = [[1, 0, 0, 13, 11], [0, 3, 2.4, 9.8, 9], [1, -9, -3, 30, 8], [0, 4, 4, 4, 4]]
    attrs = {"pooled_shape": [2, 3], "spatial_scale": 0.5}
    inputs = [x, np.array(regions, np.float32)]
    compare(target, [Node("MaxRoiPool", inputs, attrs, 1)])


@on_targets
def test_deform_conv_agrees(target):
    x, w = floats(2, 4, 6, 5), floats(6, 2, 3, 2)
    attrs = {"group": 2, "offset_group": 2, "pads": [1, 0, 1, 1], "strides": [2, 1]}
    attrs["dilations"] = [1, 2]
    oh, ow = 3, 4
    offset, mask = floats(2, 2 * 6 * 2, oh, ow) * 3, floats(2, 2 * 6, oh, ow)
    nodes = [
        Node("DeformConv", [x, w, offset], attrs, 19),
        Node("DeformConv", [x, w, offset, floats(6), mask], attrs, 19, (1, 3)),
        Node("DeformConv", [x, w, offset, None, mask], attrs, 19, (1,)),
    ]
    compare(target, nodes, rtol=1e-4, atol=2e-5)


@on_targets
def test_col2im_agrees(target):
    image, block = np.array([5, 6]), np.array([2, 3])
    attrs = {"pads": [1, 0, 1, 2], "strides": [2, 1], "dilations": [1, 2]}
    nodes = [
        Node(
            "Col2Im",
            [floats(2, 3 * 6, 4 * 4), np.array([4, 5]), block],
            {"pads": [0, 0, 1, 1]},
            18,
            (1, 2),
        ),
        Node("Col2Im", [floats(2, 3 * 6, 3 * 4), image, block], attrs, 18, (1, 2)),
    ]
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@on_targets
def test_affine_grid_agrees(target):
    nodes = []
    for size, align in itertools.product(([2, 1, 3, 4], [2, 1, 2, 3, 4]), (0, 1)):
        theta = floats(2, len(size) - 2, len(size) - 1)
        nodes.append(
            Node("AffineGrid", [theta, np.array(size)], {"align_corners": align}, 20, (1,))
        )
    compare(target, nodes, rtol=1e-5, atol=1e-5)
