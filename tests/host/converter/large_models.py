"""Models with many bytes of weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_SCALE = np.float32(0.05)


def gemms(n: int, layers: int) -> onnx.ModelProto:
    """Return float layers of n x n weights with Relu."""
    rng, nodes, constants, x = np.random.default_rng(0), [], [], "x"
    for i in range(layers):
        w = rng.standard_normal((n, n), np.float32) / np.float32(n**0.5)
        b = rng.standard_normal(n, np.float32)
        constants += [numpy_helper.from_array(w, f"w{i}"), numpy_helper.from_array(b, f"b{i}")]
        nodes.append(helper.make_node("Gemm", [x, f"w{i}", f"b{i}"], [f"g{i}"], f"g{i}"))
        nodes.append(helper.make_node("Relu", [f"g{i}"], [f"r{i}"], f"r{i}"))
        x = f"r{i}"
    return _model(nodes, constants, [1, n], x)


def convolutions(channels: int, layers: int) -> onnx.ModelProto:
    """Return float layers of channels x channels x 3 x 3 weights."""
    rng, nodes, constants, x = np.random.default_rng(0), [], [], "x"
    for i in range(layers):
        w = rng.standard_normal((channels, channels, 3, 3), np.float32)
        w /= np.float32((9 * channels) ** 0.5)
        constants.append(numpy_helper.from_array(w, f"w{i}"))
        nodes.append(helper.make_node("Conv", [x, f"w{i}"], [f"c{i}"], f"c{i}", pads=[1] * 4))
        x = f"c{i}"
    return _model(nodes, constants, [1, channels, 4, 4], x)


def int8(n: int, layers: int) -> onnx.ModelProto:
    """Return layers of n x n weights in int8, between QuantizeLinear and DequantizeLinear."""
    rng = np.random.default_rng(0)
    constants = [
        numpy_helper.from_array(_SCALE, "s"),
        numpy_helper.from_array(np.int8(0), "z"),
        numpy_helper.from_array(np.float32(1 / 75 / n**0.5), "ws"),
    ]
    nodes = [_quantize("x", "q"), _dequantize("q", "s", "d")]
    x = "d"
    for i in range(layers):
        w = rng.integers(-127, 128, (n, n), np.int8)
        constants.append(numpy_helper.from_array(w, f"w{i}"))
        nodes += [
            _dequantize(f"w{i}", "ws", f"wd{i}"),
            helper.make_node("Gemm", [x, f"wd{i}"], [f"g{i}"], f"g{i}"),
            _quantize(f"g{i}", f"q{i}"),
            _dequantize(f"q{i}", "s", f"d{i}"),
        ]
        x = f"d{i}"
    return _model(nodes, constants, [1, n], x)


def _quantize(x, out):
    return helper.make_node("QuantizeLinear", [x, "s", "z"], [out], out)


def _dequantize(x, scale, out):
    return helper.make_node("DequantizeLinear", [x, scale, "z"], [out], out)


def _model(nodes, constants, shape, output):
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    y = helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)
    graph = helper.make_graph(nodes, "large", [x], [y], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def saved(model: onnx.ModelProto, path: Path, external: bool = False) -> int:
    """Save a model and return the bytes of its files."""
    onnx.save(model, path, save_as_external_data=external, location=f"{path.stem}.data")
    return sum(file.stat().st_size for file in path.parent.glob(f"{path.stem}.*"))
