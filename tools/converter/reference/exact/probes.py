"""Create extreme products of 8-bit integers for each operator, with exact results from numpy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import helper, numpy_helper

_MS = "com.microsoft"
_K, _N = 67, 18  # more than a vector register, and not a multiple of one
_PAIRS = {
    "u8*u8": (np.uint8, np.uint8),
    "u8*s8": (np.uint8, np.int8),
    "s8*u8": (np.int8, np.uint8),
    "s8*s8": (np.int8, np.int8),
}
_SAME = ("u8*u8", "u8*s8", "s8*s8")  # pairs that QLinear operators take
_SCALE = np.float32(2**-15)  # times this, all sums fit into 8 bits


@dataclass
class Probe:
    """A node with its inputs and its exact output.

    Attributes:
        operator: operator type.
        pair: dtypes of the factors, such as "u8*s8".
        inputs: the first is the model's input x; the others are constants, None if omitted.
        due: the exact output.
        attributes: attributes of the node.
        domain: domain of the operator.
    """

    operator: str
    pair: str
    inputs: list
    due: np.ndarray
    attributes: dict = field(default_factory=dict)
    domain: str = ""

    @property
    def name(self) -> str:
        """Return operator and pair of dtypes, such as 'MatMulInteger u8*s8'."""
        return f"{self.operator} {self.pair}"

    def model(self) -> onnx.ModelProto:
        """Return the model of this node."""
        return model_of([self])

    def is_met(self, y: np.ndarray) -> bool:
        """Return True if the products are exact; float operations behind them may round."""
        return y.shape == self.due.shape and np.allclose(y, self.due, rtol=1e-5, atol=0)


def model_of(probes: list[Probe]) -> onnx.ModelProto:
    """Return one model of many probes: inputs x0, x1, ..., outputs y0, y1, ..."""
    nodes, constants, inputs, outputs = [], [], [], []
    for i, p in enumerate(probes):
        names = ["" if x is None else f"x{i}_{k}" for k, x in enumerate(p.inputs)]
        names[0] = f"x{i}"
        nodes.append(
            helper.make_node(p.operator, names, [f"y{i}"], domain=p.domain, **p.attributes)
        )
        constants += [
            numpy_helper.from_array(np.asarray(x), name)
            for x, name in zip(p.inputs[1:], names[1:], strict=True)
            if x is not None
        ]
        dtype = helper.np_dtype_to_tensor_dtype(p.inputs[0].dtype)
        inputs.append(helper.make_tensor_value_info(f"x{i}", dtype, p.inputs[0].shape))
        dtype = helper.np_dtype_to_tensor_dtype(p.due.dtype)
        outputs.append(helper.make_tensor_value_info(f"y{i}", dtype, None))
    graph = helper.make_graph(nodes, "probes", inputs, outputs, constants)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid(_MS, 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def probes() -> Iterator[Probe]:
    """Yield all probes: each operator with each pair of dtypes that it takes."""
    for pair in _PAIRS:
        yield from _of_integers(pair)
    for pair in _SAME:
        yield from _requantized(pair)
        yield _to_float(pair)
    for pair in ("u8*u8", "u8*s8"):
        yield _dynamic_matmul(pair)
        yield _attention(pair)
        yield _lstm(pair)


def _extremes(dtype, rows: int, columns: int) -> np.ndarray:
    """Return rows of the largest and of the smallest value, mixed rows and random rows."""
    info, rng = np.iinfo(dtype), np.random.default_rng(1)
    values = rng.integers(info.min, info.max + 1, (rows, columns))
    values[0], values[1] = info.max, info.min
    values[2, 0::2], values[2, 1::2] = info.max, info.min
    values[3, 0::4], values[3, 1::4], values[3, 2:] = info.max, info.max, info.min
    return values.astype(dtype)


def _matrices(pair):
    """Return a (5, K), b (K, N), their zero points, and the exact product in int64."""
    of_a, of_b = _PAIRS[pair]
    a, b = _extremes(of_a, 5, _K), _extremes(of_b, _N, _K).T
    zeros = np.asarray(2, of_a), np.asarray(1, of_b)
    sums = (a.astype(np.int64) - zeros[0]) @ (b.astype(np.int64) - zeros[1])
    return a, b, *zeros, sums


def _images(pair):
    """Yield x, w, zero points, attributes and exact sums of convolutions with one output position.

    The kernels are 1x1, 3x3 and depthwise 3x3.
    """
    of_x, of_w = _PAIRS[pair]
    zeros = np.asarray(2, of_x), np.asarray(1, of_w)
    for m, c, kernel, group in ((16, 64, 1, 1), (16, 8, 3, 1), (16, 1, 3, 16)):
        x = _extremes(of_x, 5, c * group * kernel**2).reshape(5, c * group, kernel, kernel)
        w = _extremes(of_w, m, c * kernel**2).reshape(m, c, kernel, kernel)
        rows = x.astype(np.int64).reshape(5, group, -1) - zeros[0]
        columns = w.astype(np.int64).reshape(group, m // group, -1) - zeros[1]
        sums = np.einsum("ngk,gmk->ngm", rows, columns).reshape(5, m, 1, 1)
        yield x, w, *zeros, {"group": group}, sums


def _of_integers(pair):
    a, b, a_zero, b_zero, sums = _matrices(pair)
    yield Probe("MatMulInteger", pair, [a, b, a_zero, b_zero], sums.astype(np.int32))
    for x, w, x_zero, w_zero, attributes, sums in _images(pair):
        due = sums.astype(np.int32)
        yield Probe("ConvInteger", pair, [x, w, x_zero, w_zero], due, attributes)


def _requantized(pair):
    one = np.float32(1)
    a, b, a_zero, b_zero, sums = _matrices(pair)
    y_scale, y_zero, due = np.float32(1 / _SCALE), a_zero, _rounded(sums, a_zero)
    of_y = [y_scale, y_zero]
    inputs = [a, one, a_zero, b, one, b_zero]
    yield Probe("QLinearMatMul", pair, [*inputs, *of_y], due)
    yield Probe("QGemm", pair, [*inputs, None, *of_y], due, domain=_MS)
    for x, w, x_zero, w_zero, attributes, sums in _images(pair):
        inputs = [x, one, x_zero, w, one, w_zero, *of_y]
        yield Probe("QLinearConv", pair, inputs, _rounded(sums, y_zero), attributes)


def _rounded(sums, zero):
    info = np.iinfo(zero.dtype)
    values = np.rint(sums.astype(np.float32) * _SCALE) + int(zero)
    return np.clip(values, info.min, info.max).astype(zero.dtype)


def _to_float(pair):
    a, b, a_zero, b_zero, sums = _matrices(pair)
    inputs = [a, b, np.float32(1), _SCALE, a_zero, b_zero]
    return Probe("MatMulIntegerToFloat", pair, inputs, _scaled(sums), domain=_MS)


def _scaled(sums):
    return (sums * float(_SCALE)).astype(np.float32)


def _dynamic_matmul(pair):
    """Return a probe whose floats, 0 to 255, are quantized to themselves."""
    a, b, _, b_zero, sums = _matrices(pair)
    sums = a.astype(np.int64) @ (b.astype(np.int64) - b_zero)
    inputs = [a.astype(np.float32), b, _SCALE, b_zero]
    return Probe("DynamicQuantizeMatMul", pair, inputs, _scaled(sums), domain=_MS)


def _attention(pair):
    """Return a probe of QAttention: one token attends to itself, so the output is its value.

    pair: dtypes of the factors, such as "u8*s8".
    """
    of_a, of_b = _PAIRS[pair]
    a, b = _extremes(of_a, 5, _K), _extremes(of_b, _N, _K).T
    sums = a.astype(np.int64) @ b.astype(np.int64)[:, _N * 2 // 3 :]
    inputs = [a[:, None], b, np.zeros(_N, np.float32), np.float32(1), _SCALE]
    due = _scaled(sums)[:, None]
    return Probe("QAttention", pair, inputs, due, {"num_heads": 1}, _MS)


def _lstm(pair):
    """Return a probe of DynamicQuantizeLSTM whose gates are all 1.

    The first step adds c = W x, the second, whose x is 0, adds R h. pair: dtypes of the factors.
    """
    of_w, hidden = _PAIRS[pair][1], 64
    x = np.zeros((2, 1, 64), np.float32)
    x[0] = 255
    c = _extremes(of_w, hidden, 64).T.astype(np.int64)
    w = np.zeros((1, 64, 4 * hidden), of_w)
    w[0, :, -hidden:] = c
    one, zero = np.array([_SCALE]), np.zeros(1, of_w)
    first = 255 * c.sum(axis=0) * float(_SCALE)
    low, high = min(first.min(), 0), max(first.max(), 0)
    scale = np.float32((high - low) / 255)
    levels = np.rint(first / scale)
    second = first + levels @ c * float(scale) * float(_SCALE)
    due = np.stack([first, second]).astype(np.float32)[:, None, None]
    inputs = [x, w, w, None, None, None, None, None, one, zero, one, zero]
    attributes = {
        "hidden_size": hidden,
        "activations": ["Affine"] * 3,
        "activation_alpha": [0.0, 1.0, 1.0],
        "activation_beta": [1.0, 0.0, 0.0],
    }
    return Probe("DynamicQuantizeLSTM", pair, inputs, due, attributes, _MS)
