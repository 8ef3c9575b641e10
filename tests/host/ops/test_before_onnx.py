"""Operators that onnxruntime has in ONNX's domain and that ONNX lacks, or got later."""

import numpy as np
import pytest

from tests.host.ops.against_ort import compare
from tests.host.ops.ms_node import MsNode
from tools.converter.convert import convert
from tools.converter.errors import ConvertError

N = 12  # of each operator


def floats(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def image(rng):
    return floats(rng, *rng.integers(1, 4, 2), *rng.integers(4, 9, 2))


def affine(rng):
    names = {"alpha": float(rng.normal()), "beta": float(rng.normal())}
    kept = [name for name in names if rng.random() < 0.8]
    return [floats(rng, *rng.integers(1, 5, rng.integers(1, 5)))], {n: names[n] for n in kept}


def scaled(rng):
    return [3 * image(rng)], {"alpha": float(rng.normal()), "beta": float(rng.normal())}


def scale(rng):
    return [image(rng)], {"scale": float(rng.normal())} if rng.random() < 0.8 else {}


def image_scaler(rng):
    x = image(rng)
    bias = rng.standard_normal(x.shape[1]).tolist()
    return [x], {"bias": bias} | scale(rng)[1]


def crop(rng):
    x = image(rng)
    left, top, right, bottom = (int(v) for v in rng.integers(0, 2, 4))
    attributes = {"border": [left, top, right, bottom]}
    if rng.random() < 0.5:
        attributes["scale"] = [
            int(rng.integers(1, n - d + 1)) for n, d in zip(x.shape[2:], (top, left), strict=True)
        ]
    return [x], attributes


def dynamic_slice(rng):
    x = image(rng)
    axes = rng.permutation(4)[: rng.integers(1, 5)]
    if rng.random() < 0.3:
        axes = np.arange(len(axes))
    starts = [rng.integers(0, x.shape[a]) for a in axes]
    ends = [
        rng.choice((x.shape[a], 1 << 30, start + 1)) for a, start in zip(axes, starts, strict=True)
    ]
    starts = [
        s - x.shape[a] if rng.random() < 0.2 else s for s, a in zip(starts, axes, strict=True)
    ]
    dtype = rng.choice((np.int32, np.int64))
    indices = [np.array(v, dtype) for v in (starts, ends, axes)]
    return [x, *indices], {}


def thresholded(rng):
    return affine(rng)[0], {"alpha": float(rng.normal())} if rng.random() < 0.8 else {}


def mean_variance(rng):
    names = ("across_channels", "normalize_variance")
    return [image(rng)], {n: int(rng.integers(2)) for n in names if rng.random() < 0.8}


def layer_norm(rng):
    x = image(rng)
    axis = int(rng.choice((-1, -2, 3, 2, 1)))
    kept = x.shape[axis:]
    factors = [floats(rng, *kept) for _ in range(rng.integers(1, 3))]
    return [x, *factors], {"axis": axis, "epsilon": float(rng.choice((1e-5, 1e-2)))}


# Operator -> what draws inputs and attributes, the oldest and newest opset, constants.
OPERATORS = {
    "Affine": (affine, 7, 9, ()),
    "Crop": (crop, 7, 9, ()),
    "DynamicSlice": (dynamic_slice, 7, 9, (1, 2, 3)),
    "ImageScaler": (image_scaler, 7, 9, ()),
    "LayerNormalization": (layer_norm, 7, 16, ()),
    "MeanVarianceNormalization": (mean_variance, 7, 8, ()),
    "ParametricSoftplus": (scaled, 7, 9, ()),
    "Scale": (scale, 7, 9, ()),
    "ScaledTanh": (scaled, 7, 9, ()),
    "SimplifiedLayerNormalization": (lambda rng: _one_factor(layer_norm(rng)), 7, 21, ()),
    "ThresholdedRelu": (thresholded, 7, 9, ()),
}


def _one_factor(drawn):
    return drawn[0][:2], drawn[1]


def nodes_of(name, n=N):
    draw, oldest, newest, fixed = OPERATORS[name]
    rng = np.random.default_rng(len(name))
    for k in range(n):
        inputs, attributes = draw(rng)
        opset = oldest + k % (newest - oldest + 1)
        yield MsNode(name, inputs, attributes, opset=opset, fixed=fixed, domain="")


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_operators_agree_with_onnxruntime(target):
    nodes = [node for name in OPERATORS for node in nodes_of(name)]
    compare(target, nodes, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("target", ["unix"], indirect=True)
def test_statistics_are_outputs(target):
    rng = np.random.default_rng(3)
    x, scale, bias = floats(rng, 2, 3, 8), floats(rng, 8), floats(rng, 8)
    dtypes = (np.float32,) * 3
    compare(
        target, [MsNode("LayerNormalization", [x, scale, bias], {}, 12, (), dtypes, domain="")]
    )


@pytest.mark.parametrize("name", ["Affine", "Scale", "ScaledTanh"])
def test_operators_that_onnxruntime_dropped_are_refused(name):
    (node,) = nodes_of(name, 1)
    node.opset = 10
    with pytest.raises(ConvertError, match=rf"{name} \(opset 10\): this operator has no kernel"):
        convert(node.model())


def test_a_part_that_is_larger_than_the_image_is_refused():
    rng = np.random.default_rng(3)
    node = MsNode("Crop", [floats(rng, 1, 1, 4, 4)], {"border": [3, 0, 3, 0]}, 9, domain="")
    with pytest.raises(ConvertError, match="nothing remains of 4 x 4"):
        convert(node.model())
