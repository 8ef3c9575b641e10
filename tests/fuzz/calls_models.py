"""Small models of all kinds that the API distinguishes, with their right outputs."""

from __future__ import annotations

import json

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from tools import seal
from tools.converter.convert import Options, convert
from tools.converter.reference.golden import reference

FLOAT = TensorProto.FLOAT


def files() -> dict[str, bytes]:
    """Return model files by name, and expected.json: {name: [[inputs], output]}."""
    result, expected = {}, {}
    for name, (proto, inputs, options, output) in _models().items():
        data = convert(proto, Options(**options)).data
        if name == "relu":
            data = seal.sealed(data, seal.Keys(None, bytes(range(32))), 1)
        if output is None:
            output = reference(proto, inputs, options.get("state"))[0].ravel().tolist()
        result[f"{name}.bin"] = data
        expected[name] = [[x.ravel().tolist() for x in inputs], output]
    result["expected.json"] = json.dumps(expected).encode()
    return result


def _models():
    rng = np.random.default_rng(3)

    def floats(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    x = floats(2, 3)
    strings = np.array(["b", "A"], dtype=object)
    return {
        "relu": (_model([("Relu", "x", "y", {})], {"x": (2, 3)}, {"y": (2, 3)}), [x], {}, None),
        "streamed": (
            _model(
                [("Gemm", "x w", "h", {}), ("Relu", "h", "r", {}), ("Gemm", "r v", "y", {})],
                {"x": (1, 60)},
                {"y": (1, 60)},
                w=floats(60, 60),
                v=floats(60, 60),
            ),
            [floats(1, 60)],
            {},
            None,
        ),
        "three": (
            _model(
                [("Concat", "a b", "y", {"axis": 0}), ("Relu", "s", "r", {})],
                {"a": (2,), "b": (1,), "s": ()},
                {"y": (3,), "r": ()},
            ),
            [floats(2), floats(1), floats()],
            {},
            None,
        ),
        "open": (
            _model([("Relu", "x", "y", {})], {"x": ("n", 3)}, {"y": ("n", 3)}),
            [floats(2, 3)],
            {"bounds": {"n": 5}},
            None,
        ),
        "state": (
            _model([("Add", "x c", "n", {}), ("Relu", "n", "y", {})], {"x": (3,), "c": (3,)},
                   {"y": (3,), "n": (3,)}),
            [floats(3)],
            {"state": {"c": "n"}},
            None,
        ),
        "quantized": (
            _model(
                [("DequantizeLinear", "x s z", "f", {}), ("Relu", "f", "g", {}),
                 ("QuantizeLinear", "g s z", "y", {})],
                {"x": (6,)}, {"y": (6,)}, TensorProto.INT8,
                s=np.array(0.5, np.float32), z=np.array(3, np.int8),
            ),
            [np.arange(-3, 3, dtype=np.int8)],
            {},
            None,
        ),
        "strings": (
            _model([("StringNormalizer", "x", "y", {"case_change_action": "LOWER"})],
                   {"x": (2,)}, {"y": (2,)}, TensorProto.STRING),
            [strings],
            {},
            ["b", "a"],
        ),
    }  # fmt: skip


def _model(nodes, inputs, outputs, dtype=FLOAT, **constants):
    protos = [helper.make_node(op, i.split(), o.split(), **attrs) for op, i, o, attrs in nodes]

    def values(shapes):
        return [helper.make_tensor_value_info(n, dtype, s) for n, s in shapes.items()]

    initializers = [numpy_helper.from_array(v, name) for name, v in constants.items()]
    graph = helper.make_graph(protos, "calls", values(inputs), values(outputs), initializers)
    imports = [helper.make_opsetid("", 17)]
    return onnx.shape_inference.infer_shapes(
        helper.make_model(graph, opset_imports=imports, ir_version=8)
    )
