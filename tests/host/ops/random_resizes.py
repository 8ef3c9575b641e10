"""Random Resize and Upsample nodes of every opset, mode and attribute, small."""

from __future__ import annotations

import numpy as np

from tests.host.ops.against_ort import Node

OPSETS = (7, 9, 10, 11, 13, 18, 19)
MODES = ("nearest", "linear", "cubic")
ROUNDINGS = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
COORDINATES = (
    "half_pixel",
    "asymmetric",
    "align_corners",
    "pytorch_half_pixel",
    "tf_crop_and_resize",
    "half_pixel_symmetric",
    "tf_half_pixel_for_nn",
)
SCALES = (0.25, 0.3, 0.5, 0.6, 0.75, 1, 1, 1.25, 1.5, 1.7, 2, 2.4, 3)


def random_resize(rng: np.random.Generator) -> Node:
    """Return a node of a random opset, which onnxruntime may refuse."""
    opset = int(rng.choice(OPSETS))
    mode = str(rng.choice(MODES[: 3 if opset >= 11 else 2]))
    x = rng.standard_normal((1, rng.integers(1, 3), *rng.integers(1, 7, 2))).astype(np.float32)
    if mode == "nearest" and opset >= 10 and rng.random() < 0.3:
        x = (x * 50).astype(rng.choice([np.uint8, np.int8]))
    scales = np.array([1, 1, *rng.choice(SCALES, 2)], np.float32)
    scales = np.where(scales * x.shape < 1, np.float32(1), scales)
    if opset < 11:
        return _old(opset, mode, x, scales)
    coordinates = _coordinates(rng, opset)
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        attributes["nearest_mode"] = str(rng.choice(ROUNDINGS))
    if mode == "cubic":
        attributes["cubic_coeff_a"] = float(rng.choice([-0.75, -0.5]))
    if mode == "cubic" and rng.random() < 0.3:
        attributes["exclude_outside"] = 1
    if opset >= 18 and mode != "nearest" and rng.random() < 0.25:
        attributes["antialias"] = 1
    return _with_extents(rng, opset, x, scales, attributes)


def _old(opset, mode, x, scales):
    """Return an Upsample, or the Resize of opset 10."""
    if opset < 9:
        return Node("Upsample", [x], {"mode": mode, "scales": scales.tolist()}, opset)
    op = "Upsample" if opset == 9 else "Resize"
    return Node(op, [x, scales], {"mode": mode}, opset, (1,), (x.dtype,))


def _coordinates(rng, opset):
    since = {"half_pixel_symmetric": 19}
    until = {"tf_half_pixel_for_nn": 12}
    known = [c for c in COORDINATES if since.get(c, 0) <= opset <= until.get(c, opset)]
    return str(rng.choice(known))


def _with_extents(rng, opset, x, scales, attributes):
    """Return a Resize of all axes or of the last two, by scales or by sizes.

    Args:
        rng: random numbers.
        opset: opset of the node.
        x: the input.
        scales: scales of all axes.
        attributes: attributes of the node.
    """
    sizes = np.floor(np.array(x.shape) * scales).astype(np.int64)
    roi = np.zeros(0, np.float32)
    axes = range(4)
    if opset >= 18 and rng.random() < 0.4:
        axes = attributes["axes"] = [2, 3]
    if attributes["coordinate_transformation_mode"] == "tf_crop_and_resize":
        attributes["extrapolation_value"] = 7.0
        starts, ends = rng.choice([-0.2, 0, 0.25], 2), rng.choice([0.7, 1, 1.3], 2)
        corners = np.array([[0, 0, *starts], [1, 1, *ends]])
        roi = corners[:, list(axes)].ravel().astype(np.float32)
    scales, sizes = scales[list(axes)], sizes[list(axes)]
    empty = None if opset >= 13 else np.zeros(0, np.float32)
    inputs = [x, roi, scales] if rng.random() < 0.6 else [x, roi, empty, sizes]
    if len(inputs) == 4 and len(axes) == 2 and rng.random() < 0.5:
        policies = ["not_larger", "not_smaller"]
        attributes["keep_aspect_ratio_policy"] = str(rng.choice(policies))
    fixed = tuple(i for i in range(1, len(inputs)) if inputs[i] is not None)
    return Node("Resize", inputs, attributes, opset, fixed, (x.dtype,))
