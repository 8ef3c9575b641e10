"""python -m tests.host.encoders FOLDER: a small transformer encoder, as floats and quantized.

It has the nodes that PyTorch's exporter writes, and random weights. FOLDER gets

    float.onnx        LayerNormalization, and Gelu by Erf (opset 17)
    means.onnx        the same with ReduceMean, Sub, Pow, Sqrt and Div, as before opset 17
    gelu.onnx         the same with Gelu (opset 20)
    NAME_s8.onnx      quantized statically by onnxruntime, as int8; NAME_u8.onnx as uint8
    NAME_dyn.onnx     by its quantize_dynamic
    samples.npz       inputs, for `mpconnxr convert --quantize int8 --calibration`
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

_OUTPUTS = 5


class Encoder:
    """The graph of layers: norm -> attention -> residual, norm -> two products -> residual.

    Attributes:
        norm: LayerNormalization, or ReduceMean for its parts, as before opset 17.
        gelu: Erf, or Gelu.
    """

    def __init__(
        self, norm="LayerNormalization", gelu="Erf", width=32, heads=4, length=16, layers=2, seed=0
    ):
        self.norm, self.gelu, self.width, self.heads = norm, gelu, width, heads
        self.length, self.rng = length, np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        x = self._linear("x", width, width)
        for _ in range(layers):
            x = self._op("Add", x, self._attention(self._normalized(x)))
            x = self._op("Add", x, self._feed_forward(self._normalized(x)))
        x = self._op("ReduceMean", self._normalized(x), axes=[1], keepdims=0)
        w = self._constant(self._random(_OUTPUTS, width, scale=width**-0.5))
        self._op("Gemm", x, w, self._constant(self._random(_OUTPUTS)), out="y", transB=1)

    @property
    def shape(self) -> tuple[int, ...]:
        return 1, self.length, self.width

    def model(self) -> onnx.ModelProto:
        x = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, _OUTPUTS])
        graph = helper.make_graph(self.nodes, "encoder", [x], [y], self.constants)
        opset = helper.make_opsetid("", 20 if self.gelu == "Gelu" else 17)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=8)
        if opset.version > 17:
            _axes_as_inputs(model.graph)
        model = onnx.shape_inference.infer_shapes(model)
        onnx.checker.check_model(model, full_check=True)
        return model

    def samples(self, n: int, seed: int = 1) -> list[np.ndarray]:
        """Return n inputs with about the range of embedded words."""
        rng = np.random.default_rng(seed)
        return [rng.normal(size=self.shape).astype(np.float32) for _ in range(n)]

    def _random(self, *shape, scale=0.1):
        return (self.rng.normal(size=shape) * scale).astype(np.float32)

    def _constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def _op(self, op, *inputs, out="", **attributes):
        name = f"/{op}_{len(self.nodes)}"
        out = out or f"{name}_output_0"
        self.nodes.append(helper.make_node(op, inputs, [out], name, **attributes))
        return out

    def _float(self, number):
        return self._constant(np.float32(number))

    def _linear(self, x, n_in, n_out):
        w = self._constant(self._random(n_in, n_out, scale=n_in**-0.5))
        return self._op("Add", self._constant(self._random(n_out)), self._op("MatMul", x, w))

    def _normalized(self, x):
        scale = self._constant(1 + self._random(self.width))
        bias = self._constant(self._random(self.width))
        if self.norm == "LayerNormalization":
            return self._op(self.norm, x, scale, bias, axis=-1, epsilon=1e-5)
        d = self._op("Sub", x, self._op("ReduceMean", x, axes=[-1]))
        variance = self._op("ReduceMean", self._op("Pow", d, self._float(2)), axes=[-1])
        root = self._op("Sqrt", self._op("Add", variance, self._float(1e-5)))
        scaled = self._op("Mul", self._op("Div", d, root), scale)
        return self._op("Add", scaled, bias)

    def _heads(self, x, perm):
        shape = self._constant(np.array([1, self.length, self.heads, -1], np.int64))
        return self._op("Transpose", self._op("Reshape", x, shape), perm=perm)

    def _attention(self, x):
        n = self.width
        q, k, v = (self._linear(x, n, n) for _ in range(3))
        q, v = (self._heads(t, [0, 2, 1, 3]) for t in (q, v))
        scores = self._op("MatMul", q, self._heads(k, [0, 2, 3, 1]))
        scores = self._op("Div", scores, self._float((n // self.heads) ** 0.5))
        mixed = self._op("MatMul", self._op("Softmax", scores, axis=-1), v)
        shape = self._constant(np.array([1, self.length, -1], np.int64))
        mixed = self._op("Reshape", self._op("Transpose", mixed, perm=[0, 2, 1, 3]), shape)
        return self._linear(mixed, n, n)

    def _feed_forward(self, x):
        n = self.width
        x = self._linear(x, n, 2 * n)
        if self.gelu == "Gelu":
            x = self._op("Gelu", x)
        else:
            erf = self._op("Erf", self._op("Div", x, self._float(2**0.5)))
            x = self._op("Mul", x, self._op("Add", erf, self._float(1)))
            x = self._op("Mul", x, self._float(0.5))
        return self._linear(x, 2 * n, n)


def _axes_as_inputs(graph):
    """Make the axes of ReduceMean an input, as from opset 18 on."""
    for node in graph.node:
        for a in [a for a in node.attribute if a.name == "axes"]:
            node.input.append(name := f"{node.name}/axes")
            graph.initializer.append(numpy_helper.from_array(np.array(a.ints, np.int64), name))
            node.attribute.remove(a)


class _Batches:
    def __init__(self, samples):
        self.left = [{"x": x} for x in samples]

    def get_next(self):
        return self.left.pop() if self.left else None


def static(encoder: Encoder, kind: str = "QInt8", **options) -> onnx.ModelProto:
    """Return QDQ by onnxruntime's quantizer, QInt8 or QUInt8, calibrated with a few samples."""
    from onnxruntime import quantization

    kind = getattr(quantization.QuantType, kind)
    with TemporaryDirectory() as folder:
        source, out = Path(folder, "float.onnx"), Path(folder, "quantized.onnx")
        onnx.save(encoder.model(), source)
        batches = _Batches(encoder.samples(8))
        options = {"activation_type": kind} | options
        quantization.quantize_static(source, out, batches, **options)
        return onnx.load(out)


def dynamic(encoder: Encoder, **options) -> onnx.ModelProto:
    """Return the model by onnxruntime's quantize_dynamic."""
    from onnxruntime import quantization

    with TemporaryDirectory() as folder:
        source, out = Path(folder, "float.onnx"), Path(folder, "quantized.onnx")
        onnx.save(encoder.model(), source)
        quantization.quantize_dynamic(source, out, **options)
        return onnx.load(out)


VARIANTS = {
    "float": {},
    "means": {"norm": "ReduceMean"},
    "gelu": {"gelu": "Gelu"},
}


def all_models() -> Iterator[tuple[str, onnx.ModelProto]]:
    """Yield (name, model) of all models in the module's docstring."""
    for name, options in VARIANTS.items():
        encoder = Encoder(**options)
        yield name, encoder.model()
        yield f"{name}_s8", static(encoder)
        yield f"{name}_u8", static(encoder, "QUInt8")
        yield f"{name}_dyn", dynamic(encoder)


def main() -> None:
    logging.disable(logging.WARNING)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in all_models():
        onnx.save(model, folder / f"{name}.onnx")
    np.savez(folder / "samples.npz", x=np.stack(Encoder().samples(8)))


if __name__ == "__main__":
    main()
