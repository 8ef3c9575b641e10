"""Resize and Upsample of all opsets on MicroPython, against onnxruntime."""

import itertools

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
X = np.random.default_rng(3).standard_normal((1, 2, 5, 6)).astype(np.float32)
NO = np.array([], np.float32)


def scaled(*scales):
    return np.array(scales, np.float32)


def resize(scales=None, sizes=None, x=X, roi=NO, opset=19, **attrs):
    inputs = [x, roi, NO if scales is None else scales]
    if sizes is not None:
        inputs += [np.array(sizes, np.int64)]
        inputs[2] = None if opset > 11 else NO
    fixed = tuple(i for i in range(1, len(inputs)) if inputs[i] is not None)
    return Node("Resize", inputs, attrs, opset, fixed, (x.dtype,))


MODES = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric")


@on_targets
def test_interpolation_agrees_with_onnxruntime(target):
    cases = [
        resize(scaled(1, 1, *s), mode=m, coordinate_transformation_mode=c)
        for m, c, s in itertools.product(("linear", "cubic"), MODES, [(2, 1.5), (0.6, 0.5)])
    ]
    down = scaled(1, 1, 0.4, 0.7)
    cases += [
        resize(down, mode="linear", coordinate_transformation_mode="half_pixel_symmetric"),
        resize(down, mode="cubic", cubic_coeff_a=-0.5, exclude_outside=1),
        resize(down, mode="linear", antialias=1),
        resize(down, mode="cubic", antialias=1, exclude_outside=1),
        resize(down, mode="cubic", opset=11, coordinate_transformation_mode="asymmetric"),
        resize(None, (1, 2, 9, 1), mode="linear", opset=13),
        resize(None, (9, 2), axes=[2, 3], mode="linear", opset=18),
        resize(None, (9, 7), axes=[2, 3], mode="linear", keep_aspect_ratio_policy="not_smaller"),
    ]
    compare(target, cases, atol=1e-5)


@on_targets
def test_interpolation_of_bytes_truncates(target):
    """The factors' weights are exact in any order of the sum."""
    rng = np.random.default_rng(4)
    cases = [
        resize(scaled(1, 1, *s), x=rng.integers(0, 256, (1, 2, 4, 6)).astype(t), mode="linear")
        for t in (np.uint8, np.int8)
        for s in ((2, 1), (4, 2), (0.5, 2))
    ]
    compare(target, cases)


@on_targets
def test_nearest_resize_of_any_dtype_agrees(target):
    nearest = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
    cases = [
        resize(None, (1, 2, *s), mode="nearest", nearest_mode=n, coordinate_transformation_mode=c)
        for n, c, s in itertools.product(nearest, MODES[:3], [(8, 9), (3, 4)])
    ]
    up = scaled(1, 1, 2, 3)
    for dtype in (np.uint8, np.int8, np.int32):
        cases.append(resize(up, x=(X * 50).astype(dtype), mode="nearest"))
    cases.append(resize(up, opset=11, coordinate_transformation_mode="tf_half_pixel_for_nn"))
    compare(target, cases, rtol=0, atol=0)


@on_targets
@pytest.mark.parametrize("mode", ["linear", "nearest"])
def test_crops_with_extrapolation_agree(target, mode):
    roi = scaled(0, 0, -0.2, 0.35, 1, 1, 0.7, 1.45)
    options = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.0}
    sizes = [(1, 2, 7, 4), (1, 2, 17, 30)]
    compare(target, [resize(None, s, roi=roi, mode=mode, **options) for s in sizes], atol=1e-5)


@on_targets
def test_resizes_of_old_opsets_agree(target):
    cases = []
    for mode, s in itertools.product(("nearest", "linear"), [(2, 3), (1.5, 2.5)]):
        scales = scaled(1, 1, *s)
        cases.append(Node("Upsample", [X], {"mode": mode, "scales": scales.tolist()}, 7))
        cases.append(Node("Upsample", [X, scales], {"mode": mode}, 9, (1,)))
        cases.append(Node("Resize", [X, scales], {"mode": mode}, 10, (1,)))
        cases.append(Node("Resize", [X, scaled(1, 1, 0.4, 0.7)], {"mode": mode}, 10, (1,)))
    compare(target, cases, atol=1e-5)
