"""Models of convolutions, pools and resampling: operators over spatial dims."""

from __future__ import annotations

import math

import numpy as np

from .making import Spec, makes


def windows(draw, v, rank: int, is_pool: bool = False) -> tuple[list[int], dict]:
    """Draw the sizes of a window and the attributes that describe windows.

    Args:
        draw: draws numbers.
        v: the version, which has some of the attributes.
        rank: number of spatial dims.
        is_pool: draw attributes that only pools have, too.
    """
    kernel = [draw.size(1, 3) for _ in range(rank)]
    attributes = {}
    if draw.chance(0.7):
        attributes["strides"] = [draw.size(1, 3) for _ in range(rank)]
    if v.has("dilations") and draw.chance(0.4):
        attributes["dilations"] = [draw.size(1, 2) for _ in range(rank)]
    if is_pool and v.has("ceil_mode") and draw.chance(0.6):
        attributes["ceil_mode"] = 1
    # onnxruntime ignores dilations next to SAME, and crops if strides exceed the window.
    plain = zip(kernel, attributes.get("strides", kernel), strict=True)
    if draw.chance(0.25) and "dilations" not in attributes and all(k >= s for k, s in plain):
        attributes["auto_pad"] = ("SAME_UPPER", "SAME_LOWER", "VALID")[draw.size(0, 2)]
    elif draw.chance(0.7):
        attributes["pads"] = [draw.size(0, k - 1) for k in kernel * 2]
    return kernel, attributes


def plane(draw, kernel, attributes) -> list[int]:
    """Draw spatial dims that a window fits in."""
    dilations = attributes.get("dilations", [1] * len(kernel))
    pairs = zip(kernel, dilations, strict=True)
    return [draw.size((k - 1) * d + 1, 8) for k, d in pairs]


@makes("AveragePool", "LpPool", "MaxPool")
def pool(draw, v):
    """Use ceil_mode, dilations and indices in the versions that have them."""
    rank = draw.size(1, 3)
    kernel, attributes = windows(draw, v, rank, is_pool=True)
    shape = (draw.size(1, 2), draw.size(1, 3), *plane(draw, kernel, attributes))
    attributes["kernel_shape"] = kernel
    outputs = [True]
    if v.operator == "AveragePool" and draw.chance():
        attributes["count_include_pad"] = int(draw.chance(0.8))
    if v.operator == "LpPool" and draw.chance():
        attributes["p"] = draw.size(1, 3)
    dtype = v.dtype(draw, among="float32 float64 int8 uint8")
    x = draw.floats(shape, dtype) if dtype.kind == "f" else draw.ints(shape, dtype)
    if v.has("storage_order") and draw.chance(0.3):
        outputs = [True, True]
        attributes["storage_order"] = int(draw.chance())
    return Spec([x], attributes, outputs=outputs)


@makes("GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool")
def global_pool(draw, v):
    """Draw one to three spatial dims."""
    x = draw.floats(draw.shape(3, 5, 4), v.dtype(draw, among="float32 float64"))
    return Spec([x], {"p": draw.size(1, 3)} if v.has("p") and draw.chance() else {})


@makes("Conv")
def conv(draw, v):
    """Vary groups, dilations, pads on either side, and the optional bias."""
    rank = draw.size(1, 3)
    kernel, attributes = windows(draw, v, rank)
    dims, group = plane(draw, kernel, attributes), draw.size(1, 2)
    c, m = group * draw.size(1, 2), group * draw.size(1, 3)
    inputs = [draw.floats((draw.size(1, 2), c, *dims)), draw.floats((m, c // group, *kernel))]
    if draw.chance():
        inputs.append(draw.floats((m,)))
    if draw.chance():
        attributes["kernel_shape"] = kernel
    if group > 1 or draw.chance():
        attributes["group"] = group
    return Spec(inputs, attributes, range(1, len(inputs)) if draw.chance(0.8) else ())


@makes("ConvTranspose")
def conv_transpose(draw, v):
    """Vary output_padding and pads."""
    rank, group = draw.size(1, 2), draw.size(1, 2)
    kernel = [draw.size(1, 3) for _ in range(rank)]
    strides = [draw.size(1, 3) for _ in range(rank)]
    attributes = {"strides": strides, "group": group}
    if draw.chance(0.3):
        attributes["dilations"] = [draw.size(1, 2) for _ in range(rank)]
    if draw.chance():
        attributes["pads"] = [draw.size(0, min(1, k - 1)) for k in kernel * 2]
    if draw.chance(0.4):
        attributes["output_padding"] = [draw.size(0, s - 1) for s in strides]
    c, m = group * draw.size(1, 2), draw.size(1, 3)
    dims = [draw.size(2, 5) for _ in range(rank)]
    inputs = [draw.floats((1, c, *dims)), draw.floats((c, m, *kernel))]
    if draw.chance():
        inputs.append(draw.floats((group * m,)))
    return Spec(inputs, attributes, range(1, len(inputs)) if draw.chance(0.8) else ())


@makes("MaxUnpool")
def max_unpool(draw, v):
    """Draw indices within the implied shape."""
    kernel = [draw.size(2, 3) for _ in range(2)]
    shape = (1, draw.size(1, 2), draw.size(1, 3), draw.size(1, 3))
    implied = (*shape[:2], *((d - 1) * k + k for d, k in zip(shape[2:], kernel, strict=True)))
    n = math.prod(shape)
    index = np.sort(draw.rng.permutation(math.prod(implied))[:n]).reshape(shape).astype(np.int64)
    return Spec([draw.floats(shape), index], {"kernel_shape": kernel, "strides": kernel})


@makes("MaxRoiPool")
def max_roi_pool(draw, v):
    """Draw boxes of whole pixels."""
    x = draw.floats((2, draw.size(1, 3), draw.size(4, 7), draw.size(4, 7)))
    corners = [
        [draw.size(0, 1), *draw.ints((2,), np.int64, 0, 1), *draw.ints((2,), np.int64, 2, 3)]
    ]
    rois = np.array(corners * draw.size(1, 2), np.float32)
    return Spec([x, rois], {"pooled_shape": [draw.size(1, 2), draw.size(1, 2)]})


@makes("RoiAlign")
def roi_align(draw, v):
    """Vary coordinate_transformation_mode, which exists since opset 16."""
    x = draw.floats((2, draw.size(1, 3), draw.size(4, 7), draw.size(4, 7)))
    n = draw.size(1, 3)
    low = draw.rng.uniform(0, 2, (n, 2))
    rois = np.concatenate([low, low + draw.rng.uniform(0.5, 3, (n, 2))], 1).astype(np.float32)
    attributes = {"output_height": draw.size(1, 3), "output_width": draw.size(1, 3)}
    for name, values in {"mode": ("avg", "max"), "sampling_ratio": (0, 1, 2)}.items():
        if draw.chance():
            attributes[name] = values[draw.size(0, len(values) - 1)]
    if v.has("coordinate_transformation_mode") and draw.chance(0.7):
        mode = "half_pixel" if draw.chance() else "output_half_pixel"
        attributes["coordinate_transformation_mode"] = mode
    return Spec([x, rois, draw.ints((n,), np.int64, 0, 1)], attributes)


@makes("GridSample")
def grid_sample(draw, v):
    """Use the mode names of the version; volumes exist since opset 20."""
    names = ("bilinear", "nearest", "bicubic") if v.since < 20 else ("linear", "nearest", "cubic")
    rank = 3 if v.since >= 20 and draw.chance(0.3) else 2
    names = names if rank == 2 else names[:2]
    n, dims = draw.size(1, 2), [draw.size(2, 5) for _ in range(rank)]
    grid = draw.rng.uniform(-1.3, 1.3, (n, *(draw.size(1, 3) for _ in dims), rank))
    attributes = {}
    if draw.chance(0.8):
        attributes["mode"] = names[draw.size(0, len(names) - 1)]
    if draw.chance(0.7):
        attributes["padding_mode"] = ("zeros", "border", "reflection")[draw.size(0, 2)]
    if draw.chance():
        attributes["align_corners"] = int(draw.chance())
    return Spec([draw.floats((n, draw.size(1, 3), *dims)), grid.astype(np.float32)], attributes)


@makes("DeformConv")
def deform_conv(draw, v):
    """Vary the optional mask."""
    kernel, n, c, m = [draw.size(1, 3) for _ in range(2)], 1, draw.size(1, 2), draw.size(1, 2)
    dims = [draw.size(3, 5) for _ in range(2)]
    out = [d - k + 1 for d, k in zip(dims, kernel, strict=True)]
    taps = math.prod(kernel)
    inputs = [draw.floats((n, c, *dims)), draw.floats((m, c, *kernel))]
    inputs.append(draw.floats((n, 2 * taps, *out), scale=0.7))
    if draw.chance():
        inputs += [draw.floats((m,)), np.abs(draw.floats((n, taps, *out)))]
    return Spec(inputs, {"kernel_shape": kernel, "pads": [0] * 4})


@makes("Upsample")
def upsample(draw, v):
    """Draw scales, which are an attribute before opset 9, then an input."""
    scales = [1.0, 1.0, *(float(draw.size(2, 6)) / 2 for _ in range(2))]
    x = draw.floats((1, draw.size(1, 2), draw.size(1, 4), draw.size(1, 4)))
    attributes = {"mode": "linear" if draw.chance(0.4) else "nearest"}
    if v.since < 9:
        return Spec([x], attributes | {"scales": scales})
    return Spec([x, np.array(scales, np.float32)], attributes, [1])


@makes("Resize")
def resize(draw, v):
    """Use sizes since opset 11, axes and antialias since 18, half_pixel_symmetric since 19."""
    x = draw.floats((1, draw.size(1, 2), draw.size(2, 5), draw.size(2, 5)))
    modes = ["nearest", "linear", "cubic"][: 2 if v.since < 11 else 3]
    attributes = {"mode": modes[draw.size(0, len(modes) - 1)]}
    scales = np.array([1, 1, *(draw.size(2, 6) / 2 for _ in range(2))], np.float32)
    if v.since < 11:
        return Spec([x, scales], attributes, [1])
    wheres = ["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"]
    wheres += ["half_pixel_symmetric"] * (v.since >= 19)
    if draw.chance(0.7):
        attributes["coordinate_transformation_mode"] = wheres[draw.size(0, len(wheres) - 1)]
    if attributes["mode"] == "nearest" and draw.chance(0.7):
        rounds = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
        attributes["nearest_mode"] = rounds[draw.size(0, 3)]
    if attributes["mode"] == "cubic" and draw.chance():
        attributes |= {"cubic_coeff_a": -0.5, "exclude_outside": int(draw.chance())}
    sizes = [int(d * s) for d, s in zip(x.shape, scales, strict=True)]
    if v.since >= 18 and draw.chance(0.4):
        attributes["axes"] = [2, 3]
        scales, sizes = scales[2:], sizes[2:]
    if v.since >= 18 and attributes["mode"] != "nearest" and draw.chance(0.2):
        attributes["antialias"] = 1
    empty = np.zeros(0, np.float32) if v.since < 13 else None
    if draw.chance(0.6):
        return Spec([x, empty, scales], attributes, [1, 2] if empty is not None else [2])
    nothing = np.zeros(0, np.float32) if v.since < 13 else None
    fixed = [1, 2, 3] if nothing is not None else [3]
    return Spec([x, empty, nothing, np.array(sizes)], attributes, fixed)


@makes("NonMaxSuppression")
def non_max_suppression(draw, v):
    """Draw boxes by corners or by centers."""
    n, classes = draw.size(2, 6), draw.size(1, 2)
    low = draw.rng.uniform(0, 1, (1, n, 2))
    boxes = np.concatenate([low, low + draw.rng.uniform(0.2, 1, (1, n, 2))], 2).astype(np.float32)
    scores = draw.rng.random((1, classes, n)).astype(np.float32)
    most = [np.array([draw.size(1, 3)]), np.array([0.5], np.float32), np.array([0.3], np.float32)]
    attributes = {"center_point_box": 1} if draw.chance(0.3) else {}
    return Spec([boxes, scores, *most[: draw.size(1, 3)]], attributes, [2])
