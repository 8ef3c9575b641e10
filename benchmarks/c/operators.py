"""Translate operators to calls of the functions in benchmarks/c/kernels.h."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from onnx import helper

from tools.errors import ConvertError

from . import same

_ALIASES = ("Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity")


class Node:
    """One node with its tensors and attributes."""

    def __init__(self, code, proto):
        self._code = code
        self.op = proto.op_type
        self.inputs = [code.values[name] if name else None for name in proto.input]
        self.out = code.values[proto.output[0]]
        self.attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def _input(self, i):
        return self.inputs[i] if i < len(self.inputs) else None

    def scalar(self, i: int):
        """Return the first element of constant input i; 0 if the input is absent."""
        value = self._input(i)
        return 0 if value is None else value.data.reshape(-1)[0].item()

    def data(self, i: int) -> np.ndarray | None:
        """Return constant input i; None if it is absent."""
        value = self._input(i)
        return None if value is None else value.data

    def array(self, i: int, dtype: str) -> str:
        """Declare constant input i as an array and return its name; "NULL" if it is absent."""
        value = self._input(i)
        return "NULL" if value is None else self._code.constant(value.data, dtype)

    def ratio(self, i: int) -> np.ndarray:
        """Return x_scale * w_scale / y_scale, inputs 1, 4 and i: one ratio per channel."""
        return self.scalar(1) * self.data(4).astype(np.float64) / self.scalar(i)


def windows(node: Node, x, w) -> tuple:
    """Return the geometry of a convolution or pool; in one dimension, heights are 1.

    Args:
        node: the node.
        x: its input.
        w: its weights; None if the attribute kernel_shape has the kernel's size.

    Returns:
        Sizes of input, kernel and output, strides, pads before and dilations: (height, width)
            each.
    """
    a, rank = node.attributes, len(x.shape) - 2
    kernel = list(w.shape[2:]) if w is not None else list(a["kernel_shape"])

    def two(values):
        return ([1] if rank == 1 else []) + list(values)

    strides = two(a.get("strides", [1] * rank))
    dilations = two(a.get("dilations", [1] * rank))
    out, size = two(node.out.shape[2:]), two(x.shape[2:])
    kernel, pads = two(kernel), _pads(a, rank)
    auto = a.get("auto_pad", b"NOTSET").decode()
    if auto.startswith("SAME"):
        pads = []
        for i in range(2):
            whole = (out[i] - 1) * strides[i] + (kernel[i] - 1) * dilations[i] + 1 - size[i]
            pads.append((max(whole, 0) + (auto == "SAME_LOWER")) // 2)
    return size, kernel, out, strides, pads, dilations


def _pads(a, rank):
    pads = list(a.get("pads", [0] * 2 * rank))[:rank]
    return [0] + pads if rank == 1 else pads


def _conv_args(node, x, w):
    size, kernel, out, strides, pads, dilations = windows(node, x, w)
    groups = node.attributes.get("group", 1)
    head = [x.shape[0], groups, w.shape[1], *size, w.shape[0] // groups]
    return [*head, *kernel, *out, *strides, *pads, *dilations]


def _conv(code, node):
    x, w = node.inputs[:2]
    if "float" in code.same:
        same.conv_f32(code, x, node.out, w.data, node.data(2), _conv_args(node, x, w))
        return
    weights, bias = node.array(1, "float32"), node.array(2, "float32")
    code.call("conv_f32", x.c, weights, bias, node.out.c, *_conv_args(node, x, w))


def _scales(code, ratio, n):
    """Declare an array of n scales, one per output channel, and return its name.

    Args:
        code: the C that is written.
        ratio: the scales; one number is repeated.
        n: number of output channels.
    """
    return code.constant(np.broadcast_to(np.ravel(ratio), (n,)), "float32")


def _qconv(code, node):
    x, w = node.inputs[0], node.inputs[3]
    ratio = node.ratio(6)
    zeros = [node.scalar(i) for i in (2, 5, 7)]
    if "int8" in code.same:
        product = w.data, node.data(8), ratio, zeros, x.dtype, node.out.dtype
        same.qconv(code, x, node.out, product, _conv_args(node, x, w))
        return
    weights, bias = node.array(3, str(w.dtype)), node.array(8, "int32")
    scales = _scales(code, ratio, w.shape[0])
    args = [weights, bias, scales, node.out.c, *_conv_args(node, x, w), *zeros]
    code.call(f"qconv_{x.short}{w.short}", x.c, *args)


def _qgemm(code, node):
    ratio = node.attributes.get("alpha", 1.0) * node.ratio(7)
    _quantized(code, node, ratio, (2, 5, 8), 6, node.attributes.get("transB", 0))


def _qmatmul(code, node):
    _quantized(code, node, node.ratio(6), (2, 5, 7), 8, 0)  # it has no input 8, so no bias


def _quantized(code, node, ratio, zeros, bias, transposed):
    """Emit a quantized product.

    Args:
        code: the C to append to.
        node: the node.
        ratio: input scales over the output's scale, one or one per column.
        zeros: inputs with the zero points of a, b and the output.
        bias: input with the bias.
        transposed: b is (N, K).
    """
    a, w = node.inputs[0], node.inputs[3]
    rows, zeros = a.n // a.shape[-1], [node.scalar(i) for i in zeros]
    if "int8" in code.same:
        columns = w.data if transposed else w.data.T.copy()
        product = columns, node.data(bias), ratio, zeros, a.dtype, node.out.dtype
        same.qgemm(code, a, node.out, product, rows)
        return
    n = w.shape[0 if transposed else 1]
    weights, biases = node.array(3, str(w.dtype)), node.array(bias, "int32")
    args = [weights, biases, _scales(code, ratio, n), node.out.c, rows, a.shape[-1], n, transposed]
    code.call(f"qgemm_{a.short}{w.short}", a.c, *args, *zeros)


def _gemm(code, node):
    a, w = node.inputs[:2]
    transposed = node.attributes.get("transB", 0)
    n = w.shape[0 if transposed else 1]
    rows = a.n // a.shape[-1]
    if "float" in code.same:
        w = w.data if transposed else w.data.T.copy()
        same.gemm_f32(code, a, node.out, w, node.data(2), rows)
        return
    args = [node.array(1, "float32"), node.array(2, "float32"), node.out.c]
    code.call("gemm_f32", a.c, *args, rows, a.shape[-1], n, transposed)


def _relu(code, node):
    code.call("relu_f32", node.inputs[0].c, node.out.c, node.out.n)


def _add(code, node):
    a, b = node.inputs
    shape = (1,) * (len(a.shape) - len(b.shape)) + b.shape
    long = [i for i, d in enumerate(shape) if d > 1]
    part = slice(long[0], long[-1] + 1) if long else slice(0)
    if a.n != node.out.n or shape[part] != a.shape[part]:
        raise ConvertError("this broadcast cannot be translated to C here")
    inner = math.prod(a.shape[long[-1] + 1 :]) if long else a.n
    c = b.c if b.data is None else node.array(1, "float32")
    code.call("add_f32", a.c, c, node.out.c, a.n, b.n, inner)


def _max_pool(code, node):
    x = node.inputs[0]
    size, kernel, out, strides, pads, _ = windows(node, x, None)
    name = f"max_pool_{x.short}"
    planes = x.shape[0] * x.shape[1]
    code.call(name, x.c, node.out.c, planes, *size, *kernel, *out, *strides, *pads)


def _quantize(code, node):
    zero = node.scalar(2)
    x, y = node.inputs[0], node.out
    code.call(f"quantize_{y.short}", x.c, y.c, y.n, node.scalar(1), zero)


def _dequantize(code, node):
    x = node.inputs[0]
    code.call(f"dequantize_{x.short}", x.c, node.out.c, x.n, node.scalar(1), node.scalar(2))


def _qadd(code, node):
    a, b = node.inputs[0], node.inputs[3]
    factors = [round(node.scalar(i) / node.scalar(6) * (1 << 20)) for i in (1, 4)]
    args = [factors[0], node.scalar(2), factors[1], node.scalar(5), node.scalar(7)]
    code.call(f"qadd_{a.short}", a.c, b.c, node.out.c, a.n, *args)


def _qmean(code, node):
    """Emit an average pool whose window is the whole plane."""
    x = node.inputs[0]
    if math.prod(node.out.shape[2:]) != 1:
        raise ConvertError("this average pool cannot be translated to C here")
    inner = math.prod(x.shape[2:])
    scale = node.scalar(1) / node.scalar(3) / inner
    planes = x.shape[0] * x.shape[1]
    zeros = node.scalar(2), node.scalar(4)
    code.call(f"qmean_{x.short}", x.c, node.out.c, planes, inner, *zeros, scale)


def _softmax(code, node):
    x = node.inputs[0]
    n = x.shape[-1]
    if node.op == "Softmax":
        code.call("softmax_f32", x.c, node.out.c, x.n // n, n)
    else:
        scales = node.scalar(1), node.scalar(3), node.scalar(4)
        code.call(f"qsoftmax_{x.short}", x.c, node.out.c, x.n // n, n, *scales)


def _transpose(code, node):
    x, order = node.inputs[0], list(node.attributes["perm"])
    strides = [math.prod(x.shape[i + 1 :]) for i in range(len(x.shape))]
    missing = 4 - len(order)
    shape = [1] * missing + [x.shape[i] for i in order]
    moved = [0] * missing + [strides[i] for i in order]
    code.call(f"transpose_{x.short}", x.c, node.out.c, *shape, *moved)


def _pad(code, node):
    """Emit a Pad with constants around up to four dimensions."""
    x, pads = node.inputs[0], [int(v) for v in node.data(1)]
    if node.attributes.get("mode", b"constant") != b"constant" or len(node.inputs) > 3:
        raise ConvertError("this Pad cannot be translated to C here")
    missing = 4 - len(x.shape)
    shapes = [[1] * missing + list(shape) for shape in (x.shape, node.out.shape)]
    before = [0] * missing + pads[: len(x.shape)]
    code.call(f"pad_{x.short}", x.c, node.out.c, *shapes[0], *before, *shapes[1], node.scalar(2))


def _alias(code, node):
    node.out.c = node.inputs[0].c


EMITTERS: dict[str, Callable] = {
    "Add": _add,
    "Conv": _conv,
    "DequantizeLinear": _dequantize,
    "Gemm": _gemm,
    "MatMul": _gemm,
    "MaxPool": _max_pool,
    "Pad": _pad,
    "QGemm": _qgemm,
    "QLinearAdd": _qadd,
    "QLinearAveragePool": _qmean,
    "QLinearConv": _qconv,
    "QLinearGlobalAveragePool": _qmean,
    "QLinearMatMul": _qmatmul,
    "QLinearSoftmax": _softmax,
    "QuantizeLinear": _quantize,
    "Relu": _relu,
    "Softmax": _softmax,
    "Transpose": _transpose,
    **dict.fromkeys(_ALIASES, _alias),
}
