"""Float operators that fuse an activation, a bias, a transposition; distances."""

from __future__ import annotations

import numpy as np

from .making import Spec, makes

_ACTIVATIONS = [
    ("Relu", []),
    ("Tanh", []),
    ("Sigmoid", []),
    ("LeakyRelu", [0.2]),
    ("Clip", [-0.5, 1.5]),
    ("HardSigmoid", [0.3, 0.4]),
    (None, []),
]


@makes("FusedConv")
def fused_conv(draw):
    """Vary the activation and the added tensor."""
    for c in draw.each(
        28,
        activation=_ACTIVATIONS,
        dims=[1, 2, 2, 3],
        group=[1, 1, 2],
        bias=[True, True, False],
        z=[True, False, False],
        auto_pad=[None, None, "SAME_UPPER", "SAME_LOWER", "VALID"],
        stride=[None, 1, 2],
        dilation=[None, 1, 2],
        fixed=[(1,), (1, 2), ()],
    ):
        kernel = [draw.size(1, 3) for _ in range(c.dims)]
        x = draw.floats((draw.size(1, 2), 2 * c.group, *(draw.size(5, 8) for _ in kernel)))
        w = draw.floats((2 * c.group, 2, *kernel))
        attributes = {"group": c.group, "kernel_shape": kernel, **c.attributes("auto_pad")}
        if c.auto_pad is None:
            attributes["pads"] = [draw.size(0, 1) for _ in range(2 * c.dims)]
        if c.stride:
            attributes["strides"] = [c.stride] * c.dims
        if c.dilation and not (c.auto_pad or "").startswith("SAME"):
            attributes["dilations"] = [c.dilation] * c.dims
        name, params = c.activation
        if name:
            attributes["activation"] = name
        if params:
            attributes["activation_params"] = params
        bias = draw.floats((len(w),)) if c.bias else None
        z = draw.floats(_conv_shape(x, w, attributes)) if c.z and not c.auto_pad else None
        fixed = [i for i in c.fixed if i != 2 or c.bias]
        yield Spec([x, w, bias, z][: 4 if z is not None else 3], attributes, fixed)


def _conv_shape(x, w, attributes):
    dims = len(w.shape) - 2
    pads, ones = attributes["pads"], [1] * dims
    strides, dilations = attributes.get("strides", ones), attributes.get("dilations", ones)
    sizes = [
        (x.shape[2 + i] + pads[i] + pads[dims + i] - (w.shape[2 + i] - 1) * dilations[i] - 1)
        // strides[i]
        + 1
        for i in range(dims)
    ]
    return (x.shape[0], w.shape[0], *sizes)


@makes("FusedGemm")
def fused_gemm(draw):
    """Vary the activation."""
    activations = [
        {"activation": "Relu"},
        {"activation": "Tanh"},
        {"activation": "Sigmoid"},
        {"activation": "Softplus"},
        {"activation": "Softsign"},
        {"activation": "LeakyRelu", "activation_alpha": 0.2},
        {"activation": "Elu", "activation_alpha": 0.7},
        {"activation": "ThresholdedRelu", "activation_alpha": 0.7},
        {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4},
        {"activation": "ScaledTanh", "activation_alpha": 0.9, "activation_beta": 0.4},
        {"activation": "ParametricSoftplus", "activation_alpha": 0.9, "activation_beta": 0.4},
        {"activation": "Affine", "activation_alpha": 0.9, "activation_beta": 0.4},
    ]
    for c in draw.each(
        28,
        activation=activations,
        alpha=[None, 0.5, 1.5],
        beta=[None, 2.0, 0.25],
        transA=[None, 0, 1],
        transB=[None, 0, 1],
        c=["row", "column", "full", "one", "none"],
        fixed=[(), (1,)],
    ):
        m, k, n = draw.size(1, 5), draw.size(1, 9), draw.size(1, 6)
        a = draw.floats((k, m) if c.transA else (m, k))
        b = draw.floats((n, k) if c.transB else (k, n))
        shape = {"row": (n,), "column": (m, 1), "full": (m, n), "one": (1,)}.get(c.c)
        inputs = [a, b] if shape is None else [a, b, draw.floats(shape)]
        names = c.attributes("alpha", "beta", "transA", "transB")
        yield Spec(inputs, {**c.activation, **names}, c.fixed)


@makes("FusedMatMul", "TransposeMatMul")
def matmuls(draw, operator):
    """Vary which operands are transposed."""
    batches = operator == "FusedMatMul"
    for c in draw.each(
        28,
        dtype=[np.float32, np.float64] if batches else [np.float32],
        alpha=[None, 0.25, 2.0, -1.0],
        transA=[None, 0, 1],
        transB=[None, 0, 1],
        transBatchA=[None, 0, 1] if batches else [None],
        transBatchB=[None, 0, 1] if batches else [None],
        batch=[(), (2,), (2, 3)],
        of_b=["same", "same", "none", "one"],
        fixed=[(), (1,)],
    ):
        m, k, n = draw.size(1, 5), draw.size(1, 9), draw.size(1, 6)
        a = _stored(draw, c.batch, m, k, c.transA, c.transBatchA, c.dtype)
        batch = {"none": (), "one": (1,) * len(c.batch)}.get(c.of_b, c.batch)
        b = _stored(draw, batch, k, n, c.transB, c.transBatchB, c.dtype)
        names = ("alpha", "transA", "transB", "transBatchA", "transBatchB")
        yield Spec([a, b], c.attributes(*names), c.fixed)


def _stored(draw, batch, rows, columns, is_turned, is_batch_turned, dtype):
    """Draw an array that becomes (*batch, rows, columns) by the node's transpositions.

    Args:
        draw: draws numbers.
        batch: batch dims.
        rows: number of rows.
        columns: number of columns.
        is_turned: the node swaps the last two axes.
        is_batch_turned: the node moves the first axis behind the batch.
        dtype: dtype of the array.
    """
    x = draw.floats((*batch, rows, columns), dtype)
    if is_turned:
        x = np.swapaxes(x, -1, -2)
    if is_batch_turned and batch:
        x = np.moveaxis(x, -2, 0)
    return np.ascontiguousarray(x)


@makes("Gelu", "FastGelu", "BiasGelu", "QuickGelu")
def gelus(draw, operator):
    """Vary the optional bias."""
    biases = {"Gelu": [False], "QuickGelu": [False], "FastGelu": [True, False]}
    for c in draw.each(
        24,
        bias=biases.get(operator, [True]),
        alpha=[None, 1.0, 1.702, 0.5, -2.0] if operator == "QuickGelu" else [None],
        scale=[0.1, 1, 3, 10],
        fixed=[(), (1,)],
    ):
        x = draw.floats(draw.shape(most=9), scale=c.scale)
        inputs = [x, draw.floats(x.shape[-1:])] if c.bias else [x]
        yield Spec(inputs, c.attributes("alpha"), c.fixed if c.bias else ())


@makes("CDist")
def distances(draw):
    """Draw two matrices whose rows are compared."""
    for c in draw.each(
        24,
        metric=["euclidean", "sqeuclidean"],
        dtype=[np.float32, np.float64],
        fixed=[(), (1,), (0,)],
        width=[1, 2, 7, 16],
    ):
        a, b = (draw.floats((draw.size(1, 9), c.width), c.dtype) for _ in range(2))
        yield Spec([a, b], c.attributes("metric"), c.fixed)
