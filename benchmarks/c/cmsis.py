"""Translate a quantized model to C that calls CMSIS-NN, layer by layer, if its sources exist.

    MPCONNXR_CMSIS_NN=DIR   the folder with CMSIS-NN's Include and Source;
                            default: ../shared/peers/cmsis-nn

Activations are int8 and channels last: unsigned ones are shifted, inputs are transposed
beforehand, and a Transpose between the two layouts does nothing.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from onnx import helper

from tools.cache import made
from tools.errors import ConvertError
from tools.micropython.process import compile_c

from . import code as c_code
from .operators import windows

_FLAGS = ("-fno-math-errno", "-ffunction-sections", "-fdata-sections")
_FOLDERS = ("Convolution", "FullyConnected", "Pooling", "Softmax", "BasicMath", "NNSupport", "Pad")
_SCRATCH_NBYTES = 1 << 18
_SOFTMAX_BITS = 5  # of integers in its input, as TensorFlow Lite has it
_ADD_SHIFT = 20  # as TensorFlow Lite has it


def folder() -> Path | None:
    """Return the folder of CMSIS-NN's sources; None if there is none."""
    path = Path(os.environ.get("MPCONNXR_CMSIS_NN", "../shared/peers/cmsis-nn"))
    return path if (path / "Include" / "arm_nnfunctions.h").is_file() else None


def library(target: str, compiler: Sequence[str], level: str) -> tuple[str, ...]:
    """Compile CMSIS-NN once into the cache.

    Args:
        target: name of the target, for the file name.
        compiler: command of the compiler.
        level: -O2 or -O3.

    Returns:
        Options and archive that the compiler of model.h needs.
    """
    root = folder().absolute()
    sources = sorted(
        path
        for name in _FOLDERS
        for path in (root / "Source" / f"{name}Functions").glob("*.c")
        if not path.stem.endswith(("_f16", "_f32", "_flt"))
    )
    digest = hashlib.sha256(" ".join(compiler).encode())
    for path in [*sources, *sorted((root / "Include").rglob("*.h"))]:
        digest.update(path.read_bytes())
    name = f"cmsis-nn-{target}{level}-{digest.hexdigest()[:8]}.a"

    def make(work, product):
        command = [*compiler, *_FLAGS, level, "-c", "-w"]
        command += [f"-I{root / 'Include'}", *map(str, sources)]
        compile_c(["env", "-C", str(work), *command], "CMSIS-NN")
        objects = [str(path) for path in sorted(work.glob("*.o"))]
        [gcc] = [word for word in compiler if word.endswith("-gcc")]
        compile_c([gcc.replace("-gcc", "-ar"), "rcs", str(product), *objects], "CMSIS-NN")

    archive = made(name, make)
    return (f"-I{root / 'Include'}", "-Wl,--gc-sections", *_FLAGS, str(archive))


@dataclass
class _Value:
    """A tensor in C.

    Attributes:
        c: name in C.
        data: value of a constant.
        dims: (n, h, w, c) in memory.
        is_last: the channels are last in memory but not in ONNX.
    """

    c: str
    shape: tuple[int, ...]
    dtype: np.dtype
    data: np.ndarray | None = None
    dims: tuple[int, ...] = ()
    is_last: bool = False

    @property
    def n(self) -> int:
        return math.prod(self.shape)

    @property
    def flip(self) -> int:
        """Offset between the values in ONNX and the signed values in C."""
        return 128 if self.dtype == np.uint8 else 0

    @property
    def planes(self) -> tuple[int, ...]:
        """(n, h, w, c) of a tensor that ONNX has as (n, c, w) or (n, c, h, w)."""
        if self.is_last:
            return self.dims
        n, c, *size = self.shape
        if c > 1 and math.prod(size) > 1:
            raise ConvertError("CMSIS-NN takes channels last")
        return (n, *([1] * (2 - len(size))), *size, c)


@dataclass
class CmsisSource(c_code.Source):
    """C source of a model for CMSIS-NN.

    Attributes:
        dtype: of the output in ONNX.
        step: scale of the output.
    """

    dtype: np.dtype = np.dtype(np.int8)
    step: float = 1.0

    def steps_off(self, output: bytes, expected: bytes) -> float:
        """Return the largest distance between the two outputs, in steps of the output."""
        is_float = self.dtype.kind == "f"
        seen = np.frombuffer(output, self.dtype if is_float else np.int8).astype(np.float64)
        if self.dtype == np.uint8:
            seen += 128
        off = np.abs(seen - np.frombuffer(expected, self.dtype).astype(np.float64)).max()
        return round(float(off) / self.step, 3)


def generate(path: Path, seed: int = 0) -> CmsisSource:
    """Translate a model with one input and one output.

    Raises:
        ConvertError: if an operator cannot be translated.
    """
    model = c_code.lowered(path)
    translated = _Model(model.graph)
    for node in model.graph.node:
        emit = _EMITTERS.get(node.op_type)
        if emit is None:
            raise ConvertError(f"{node.op_type} cannot be translated to CMSIS-NN here")
        emit(translated, _Node(translated, node))
    return translated.source(seed)


@dataclass
class _Model:
    graph: object
    code: c_code.Code = field(default_factory=c_code.Code)
    step: float = 1.0

    def __post_init__(self):
        c_code.declare(self.code, self.graph, _Value)
        self.values = self.code.values
        [fed] = [i for i in self.graph.input if self.values[i.name].data is None]
        self.fed = self.values[fed.name]
        self.fed.dims, self.fed.is_last = self.fed.shape, False
        if len(self.fed.shape) == 4 and self._is_convolved(fed.name):
            n, c, h, w = self.fed.shape
            self.fed.dims, self.fed.is_last = (n, h, w, c), True

    def _is_convolved(self, name):
        """Return True if the first operator takes planes, channels first."""
        [node] = [n for n in self.graph.node if name in n.input]
        if node.op_type == "QuantizeLinear":
            return self._is_convolved(node.output[0])
        return node.op_type in ("QLinearConv", "MaxPool")

    def call(self, name, *args):
        self.code.call(name, *args)

    def source(self, seed):
        [output] = self.graph.output
        x, y = self.fed, self.values[output.name]
        sample = c_code.random(x, seed)
        data = sample
        if x.is_last and len(x.shape) == 4:
            data = sample.transpose(0, 2, 3, 1)
        if x.flip:
            data = (data.astype(np.int16) - 128).astype(np.int8)
        text = c_code.text_of(self.code, x, y, data, _HEADER, _SIGNED)
        return CmsisSource(text, sample, y.dtype, self.step)


_SIGNED = {"uint8": "int8"}  # dtype in C
_HEADER = f"""#include <arm_nnfunctions.h>
#include <arm_nnsupportfunctions.h>
static int32_t scratch[{_SCRATCH_NBYTES // 4}];
static const cmsis_nn_context context = {{scratch, sizeof scratch}};
"""


class _Node:
    """One node with its tensors and attributes."""

    def __init__(self, model, proto):
        values = model.values
        self.op = proto.op_type
        self.inputs = [values[name] if name else None for name in proto.input]
        self.out = values[proto.output[0]]
        self.attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def data(self, i):
        """Return constant input i; None if it is absent."""
        return self.inputs[i].data if i < len(self.inputs) and self.inputs[i] else None

    def scalar(self, i):
        """Return the only value of constant input i."""
        values = np.unique(self.data(i))
        if len(values) != 1:
            raise ConvertError("CMSIS-NN takes one zero point for each tensor")
        return values[0].item()

    def zero(self, i):
        """Return the zero point in input i; of uint8, less 128: CMSIS-NN computes with int8."""
        return self.scalar(i) - (128 if self.data(i).dtype == np.uint8 else 0)

    def ratio(self, i, n):
        """Return n ratios: scales of x and w (inputs 1, 4) over the output's (input i)."""
        scale = float(self.scalar(1)) * np.ravel(self.data(4)).astype(np.float64)
        return np.broadcast_to(scale / float(self.scalar(i)), (n,))


def _multipliers(ratios):
    """Return multipliers (31 bits) and left shifts of these ratios."""
    result = []
    for ratio in ratios:
        mantissa, exponent = math.frexp(float(ratio))
        multiplier = round(mantissa * (1 << 31))
        if multiplier == 1 << 31:
            multiplier, exponent = multiplier // 2, exponent + 1
        result.append((multiplier, exponent))
    return [m for m, _ in result], [e for _, e in result]


def _signed(w):
    return w if w.dtype == np.int8 else (w.astype(np.int16) - 128).astype(np.int8)


def _dims(*values):
    return f"&(cmsis_nn_dims){{{', '.join(map(str, values))}}}"


def _quantization(model, ratios):
    names = [model.code.constant(np.array(v), "int32") for v in _multipliers(ratios)]
    return [f"(int32_t *){name}" for name in names]


def _conv(model, node):
    x, w = node.inputs[0], node.data(3)
    if node.zero(5):
        raise ConvertError("CMSIS-NN's weights have no zero point")
    size, kernel, out, strides, pads, dilations = windows(node, x, node.inputs[3])
    groups, m = node.attributes.get("group", 1), len(w)
    n, h, width, c = x.planes
    node.out.dims, node.out.is_last = (n, *out, m), True
    w = _signed(w).reshape(m, -1, *kernel)
    depthwise = groups == c and c > 1
    packed = w.transpose(1, 2, 3, 0) if depthwise else w.transpose(0, 2, 3, 1)
    weights = model.code.constant(packed, "int8")
    bias = "NULL" if node.data(8) is None else model.code.constant(node.data(8), "int32")
    multiplier, shift = _quantization(model, node.ratio(6, m))
    tiles = [f"{{{b}, {a}}}" for a, b in (strides, pads, dilations)]
    head = [-node.zero(2), node.zero(7)] + ([m // c] if depthwise else [])
    kind = "dw_conv" if depthwise else "conv"
    parameters = ", ".join(map(str, [*head, *tiles, "{-128, 127}"]))
    model.call(
        "arm_depthwise_conv_wrapper_s8" if depthwise else "arm_convolve_wrapper_s8",
        "&context",
        f"&(cmsis_nn_{kind}_params){{{parameters}}}",
        f"&(cmsis_nn_per_channel_quant_params){{{multiplier}, {shift}}}",
        _dims(n, h, width, c),
        x.c,
        _dims(1, *kernel, m) if depthwise else _dims(m, *kernel, c // groups),
        weights,
        _dims(1, 1, 1, m),
        bias,
        _dims(n, *out, m),
        node.out.c,
    )


def _gemm(model, node):
    zero, scale = (7, 6) if node.op == "QLinearMatMul" else (8, 7)
    a, w = node.inputs[0], _signed(node.data(3))
    if not node.attributes.get("transB", 0):
        w = w.T
    m, k = w.shape
    if a.is_last:  # columns in the order in which the planes lie
        _, h, width, c = a.dims
        w = w.reshape(m, c, h, width).transpose(0, 2, 3, 1)
    per_channel = node.data(4).size > 1
    ratios = node.ratio(scale, m if per_channel else 1)
    multiplier, shift = _quantization(model, ratios * node.attributes.get("alpha", 1.0))
    bias = node.data(6) if node.op == "QGemm" else None
    rows = a.n // k
    parameters = f"{-node.zero(2)}, {-node.zero(5)}, {node.zero(zero)}, {{-128, 127}}"
    model.call(
        "arm_fully_connected_wrapper_s8",
        "&context",
        f"&(cmsis_nn_fc_params){{{parameters}}}",
        f"&(cmsis_nn_quant_params){{{multiplier}, {shift}, {int(per_channel)}}}",
        _dims(rows, 1, 1, k),
        a.c,
        _dims(k, 1, 1, m),
        model.code.constant(w, "int8"),
        _dims(1, 1, 1, m),
        "NULL" if bias is None else model.code.constant(bias, "int32"),
        _dims(rows, 1, 1, m),
        node.out.c,
    )


def _pool(model, node):
    """Emit a maximum pool, or an average pool that keeps the scale."""
    x = node.inputs[0]
    if x.is_last and node.op != "MaxPool":
        _mean(model, node)
        return
    _, kernel, out, strides, pads, _ = windows(node, x, None)
    n, h, w, c = x.planes
    node.out.dims, node.out.is_last = (n, *out, c), True
    _pooling(model, node, (n, h, w, c), kernel, out, strides, pads)


def _mean(model, node):
    """Emit a mean over the last dimension of a reshaped tensor, or over the whole plane."""
    x = node.inputs[0]
    n, h, w, c = x.dims
    size = math.prod(x.shape[2:])
    if not np.array_equal(node.data(1), node.data(3)) or node.zero(2) != node.zero(4):
        raise ConvertError("CMSIS-NN's means have the scale of their input")
    if math.prod(node.out.shape[2:]) != 1:
        raise ConvertError("this average pool cannot be translated to CMSIS-NN here")
    kernel = (h, w) if size == h * w and x.shape[1] == c else (1, w)
    if kernel == (1, w) and (size, x.shape[1]) != (w, c * h):
        raise ConvertError("this average pool cannot be translated to CMSIS-NN here")
    out = h // kernel[0], 1
    node.out.dims, node.out.is_last = (n, *out, c), True
    _pooling(model, node, x.dims, kernel, out, kernel, (0, 0))


def _pooling(model, node, dims, kernel, out, strides, pads):
    tiles = [f"{{{b}, {a}}}" for a, b in (strides, pads)]
    model.call(
        "arm_max_pool_s8" if node.op == "MaxPool" else "arm_avgpool_s8",
        "&context",
        f"&(cmsis_nn_pool_params){{{tiles[0]}, {tiles[1]}, {{-128, 127}}}}",
        _dims(*dims),
        node.inputs[0].c,
        _dims(1, *kernel, 1),
        _dims(dims[0], *out, dims[3]),
        node.out.c,
    )


def _add(model, node):
    a, b = node.inputs[0], node.inputs[3]
    if a.dims != b.dims or a.data is not None or b.data is not None:
        raise ConvertError("CMSIS-NN's sums have no broadcast")
    node.out.dims, node.out.is_last = a.dims, a.is_last
    scales = [float(node.scalar(i)) for i in (1, 4, 6)]
    twice = 2 * max(scales[:2])
    ratios = [scales[0] / twice, scales[1] / twice, twice / (scales[2] * (1 << _ADD_SHIFT))]
    multipliers, shifts = _multipliers(ratios)
    zeros = -node.zero(2), -node.zero(5), node.zero(7)
    one, two, three = zip(zeros, multipliers, shifts, strict=True)
    args = [a.c, b.c, *one, *two, _ADD_SHIFT, node.out.c, *three, -128, 127, a.n]
    model.call("arm_elementwise_add_s8", *args)


def _softmax(model, node):
    x = node.inputs[0]
    n = x.shape[-1]
    if node.op == "Softmax":
        model.call("softmax_f32", x.c, node.out.c, x.n // n, n)
        return
    if float(node.scalar(3)) != 1 / 256 or node.zero(4) != -128:
        raise ConvertError("CMSIS-NN's softmax has steps of 1/256")
    real = min(float(node.scalar(1)) * (1 << (31 - _SOFTMAX_BITS)), (1 << 31) - 1)
    [multiplier], [shift] = _multipliers([real])
    least = ((1 << _SOFTMAX_BITS) - 1) * (1 << (31 - _SOFTMAX_BITS)) / (1 << shift)
    args = x.c, x.n // n, n, multiplier, shift, -math.floor(least), node.out.c
    model.call("arm_softmax_s8", *args)
    model.step = 1.0


def _quantize(model, node):
    x, y = node.inputs[0], node.out
    y.dims, y.is_last = x.dims, x.is_last
    model.call("quantize_s8", x.c, y.c, y.n, float(node.scalar(1)), node.zero(2))


def _dequantize(model, node):
    x, y = node.inputs[0], node.out
    y.dims, y.is_last = x.dims, x.is_last
    model.step = float(node.scalar(1))
    model.call("dequantize_s8", x.c, y.c, x.n, float(node.scalar(1)), node.zero(2))


def _transpose(model, node):
    """Handle a Transpose between channels first and channels last: only the layout changes."""
    x, order = node.inputs[0], tuple(node.attributes["perm"])
    if order == (0, 3, 1, 2) and not x.is_last:
        dims, is_last = x.shape, True
    elif order == (0, 2, 3, 1) and x.is_last:
        dims, is_last = x.dims, False
    else:
        raise ConvertError("this Transpose cannot be translated to CMSIS-NN here")
    node.out.c, node.out.dims, node.out.is_last = x.c, dims, is_last


def _alias(model, node):
    x = node.inputs[0]
    node.out.c, node.out.dims, node.out.is_last = x.c, x.dims, x.is_last


def _pad(model, node):
    x, pads = node.inputs[0], [int(v) for v in node.data(1)]
    shape = node.out.shape
    if len(shape) != 4 or len(node.inputs) > 3:
        raise ConvertError("this Pad cannot be translated to CMSIS-NN here")
    order = (0, 2, 3, 1) if x.is_last else (0, 1, 2, 3)
    node.out.dims, node.out.is_last = tuple(shape[i] for i in order), x.is_last
    before, after = ([pads[i + 4 * side] for i in order] for side in (0, 1))
    args = [node.zero(2), _dims(*x.dims), _dims(*before), _dims(*after)]
    model.call("arm_pad_s8", x.c, node.out.c, *args)


_EMITTERS = {
    "DequantizeLinear": _dequantize,
    "MaxPool": _pool,
    "Pad": _pad,
    "QGemm": _gemm,
    "QLinearAdd": _add,
    "QLinearAveragePool": _pool,
    "QLinearConv": _conv,
    "QLinearGlobalAveragePool": _pool,
    "QLinearMatMul": _gemm,
    "QLinearSoftmax": _softmax,
    "QuantizeLinear": _quantize,
    "Softmax": _softmax,
    "Transpose": _transpose,
    **dict.fromkeys(("Flatten", "Reshape", "Squeeze", "Unsqueeze", "Identity"), _alias),
}
