"""Small models between QuantizeLinear and DequantizeLinear, run on a target and by onnxruntime."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tools.converter import lower, pipeline
from tools.converter.convert import Options, convert
from tools.converter.load import prepare
from tools.converter.reference import golden
from tools.converter.simplify import simplify
from tools.harness import Job, run_jobs

U8, S8 = np.uint8, np.int8


class Net:
    """Build a model node by node. A method returns the name of the value that it adds."""

    def __init__(self, opset: int = 17, seed: int = 0):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.opset = opset

    def input(self, shape, dtype=S8) -> str:
        name = f"x{len(self.inputs)}"
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, value, dtype=np.float32) -> str:
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value, dtype), name))
        return name

    def op(self, op_type, *inputs, outputs=1, **attrs):
        names = [f"{op_type.lower()}{len(self.nodes)}_{i}" for i in range(outputs)]
        node = helper.make_node(op_type, inputs, names, f"{op_type}_{len(self.nodes)}", **attrs)
        self.nodes.append(node)
        return names[0] if outputs == 1 else names

    def q(self, x, scale, zero=0, dtype=S8) -> str:
        return self.op("QuantizeLinear", x, self.constant(scale), self.constant(zero, dtype))

    def dq(self, x, scale, zero=0, dtype=S8, **attrs) -> str:
        zeros = np.broadcast_to(zero, np.shape(scale))
        return self.op(
            "DequantizeLinear", x, self.constant(scale), self.constant(zeros, dtype), **attrs
        )

    def qdq(self, x, scale, zero=0, dtype=S8) -> str:
        return self.dq(self.q(x, scale, zero, dtype), scale, zero, dtype)

    def weights(self, shape, scale=0.01, zero=0, dtype=S8, low=-127, high=127, **attrs) -> str:
        values = self.rng.integers(low, high, shape, endpoint=True)
        return self.dq(self.constant(values, dtype), scale, zero, dtype, **attrs)

    def bias(self, n, scale) -> str:
        values = self.constant(self.rng.integers(-2000, 2000, n), np.int32)
        return self.dq(values, scale, 0, np.int32, axis=0)

    def model(self, *outputs) -> onnx.ModelProto:
        infos = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph(self.nodes, "net", self.inputs, infos, self.constants)
        opsets = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
        inferred = onnx.shape_inference.infer_shapes(model).graph
        known = {v.name: v for v in [*inferred.value_info, *inferred.output]}
        for info in model.graph.output:
            info.CopyFrom(known[info.name])
        return model

    def values(self) -> list[np.ndarray]:
        """Return random inputs, which span an integer dtype's range."""
        return [self._values(info.type.tensor_type) for info in self.inputs]

    def _values(self, t):
        shape, dtype = [d.dim_value for d in t.shape.dim], t.elem_type
        np_dtype = helper.tensor_dtype_to_np_dtype(dtype)
        if dtype == TensorProto.FLOAT:
            return self.rng.standard_normal(shape).astype(np.float32)
        info = np.iinfo(np_dtype)
        return self.rng.integers(info.min, info.max, shape, np_dtype, endpoint=True)


def rewritten(model: onnx.ModelProto, level: int = 1) -> onnx.ModelProto:
    """Return the model after all passes before lowering; it can be lowered."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    simplified = simplify(prepare(copy))
    simplified, _ = pipeline.rewrite_model(simplified, level)
    onnx.checker.check_model(simplified)
    lower.lower(simplified)
    return simplified


def operators(model: onnx.ModelProto) -> list[str]:
    return sorted(node.op_type for node in model.graph.node)


def on_device(target, models, inputs, level: int = 1) -> list[list[np.ndarray]]:
    """Run each model on a MicroPython target, all in one process; return their outputs.

    Args:
        target: the target.
        models: the models.
        inputs: arrays for each model.
        level: level of --optimize.
    """
    conversions = [convert(model, Options(strip=True, optimize=level)) for model in models]
    jobs = [
        Job(c.data, [[x.tobytes() for x in xs]]) for c, xs in zip(conversions, inputs, strict=True)
    ]
    results = []
    for c, outcome in zip(conversions, run_jobs(target, jobs), strict=True):
        assert not outcome.error, outcome.message
        pairs = zip(outcome.runs[0].outputs, c.graph.outputs, strict=True)
        results.append([np.frombuffer(raw, t.np_dtype).reshape(t.shape) for raw, t in pairs])
    return results


def by_onnxruntime(model: onnx.ModelProto, inputs) -> list[np.ndarray]:
    """Return the outputs of the float model, computed without any optimization."""
    result = golden.reference(model, inputs)
    assert result is not None, "onnxruntime does not run it"
    return result


def steps_apart(got: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return np.abs(got.astype(np.float64) - expected.astype(np.float64))
