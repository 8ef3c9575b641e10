"""Function bodies of onnxruntime's operators that ONNX's own can express, by ONNX's operators.

DynamicQuantizeMatMul, MatMulIntegerToFloat: integers multiplied, then scales and a bias.
MultiHeadAttention, Attention: without padding masks, past values or present outputs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import onnx
from onnx import TensorProto, helper

from ..errors import Problem

DOMAIN = "com.microsoft"


# What a node of these operators has that gets no body
LIMITS = dict.fromkeys(
    ("Attention", "MultiHeadAttention"),
    "padding masks, past values, present outputs and packed inputs are not supported",
)


class _Body:
    """Collects the nodes of one function. names: formal inputs, "" for those that are absent."""

    def __init__(self, node: onnx.NodeProto, types: Mapping[str, onnx.TypeProto], formal: str):
        self.node, self.types = node, types
        self.formal = formal.split()
        self.names = dict(zip(self.formal, node.input, strict=False))
        self.attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        self.nodes: list[onnx.NodeProto] = []

    def has(self, name: str) -> bool:
        return bool(self.names.get(name))

    def optional(self, name: str) -> str:
        return name if self.has(name) else ""

    def add(self, op: str, *inputs: str, n: int = 1, **attributes):
        """A node; its output's name, or those of n outputs."""
        outputs = [f"v{len(self.nodes)}_{i}" for i in range(n)]
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))
        return outputs[0] if n == 1 else outputs

    def ints(self, *values: int) -> str:
        return self.add("Constant", value_ints=values)

    def extent(self, name: str, axis: int) -> int:
        """A fixed extent of an input. Raises Problem."""
        dims = self.types.get(self.names[name], onnx.TypeProto()).tensor_type.shape.dim
        if not dims or not dims[axis].HasField("dim_value"):
            raise Problem(f"{name}: shape unknown")
        return dims[axis].dim_value

    def function(self, result: str, version: int) -> onnx.FunctionProto:
        self.nodes.append(helper.make_node("Identity", [result], ["Y"]))
        used = self.formal[: len(self.node.input)]
        opsets = [helper.make_opsetid("", version)]
        return helper.make_function("", self.node.op_type, used, ["Y"], self.nodes, opsets)


def body(
    node: onnx.NodeProto, types: Mapping[str, onnx.TypeProto], version: int
) -> onnx.FunctionProto | None:
    """What the node is in ONNX's operators of this opset; None if it has no body here."""
    build = _BODIES.get(node.op_type)
    return build(node, types, version) if build and version >= 13 else None


def _dynamic_quantize_matmul(node, types, version):
    b = _Body(node, types, "A B b_scale b_zero_point bias")
    q, scale, zero = b.add("DynamicQuantizeLinear", "A", n=3)
    product = b.add("MatMulInteger", q, "B", zero, b.optional("b_zero_point"))
    return b.function(_scaled(b, product, scale), version)


def _matmul_integer_to_float(node, types, version):
    b = _Body(node, types, "A B a_scale b_scale a_zero_point b_zero_point bias")
    zeros = b.optional("a_zero_point"), b.optional("b_zero_point")
    return b.function(_scaled(b, b.add("MatMulInteger", "A", "B", *zeros), "a_scale"), version)


def _scaled(b, product, a_scale):
    real = b.add("Cast", product, to=TensorProto.FLOAT)
    y = b.add("Mul", real, b.add("Mul", a_scale, "b_scale"))
    return b.add("Add", y, "bias") if b.has("bias") else y


def _multi_head_attention(node, types, version):
    b = _Body(
        node,
        types,
        "query key value bias key_padding_mask attention_bias past_key past_value",
    )
    if not b.has("key") or not b.has("value") or _is_refused(b, "key_padding_mask", "past_key"):
        return None
    q, k, v = "query", "key", "value"
    if b.has("bias"):
        sizes = b.extent("query", -1), b.extent("key", -1), b.extent("value", -1)
        parts = b.add("Split", "bias", b.ints(*sizes), axis=0, n=3)
        q, k, v = (b.add("Add", x, part) for x, part in zip((q, k, v), parts, strict=True))
    return b.function(_attention(b, q, k, v, b.extent("query", -1)), version)


def _self_attention(node, types, version):
    b = _Body(node, types, "input weights bias mask_index past attention_bias")
    if _is_refused(b, "mask_index", "past") or b.attributes.get("do_rotary"):
        return None
    joined = b.add("MatMul", "input", "weights")
    if b.has("bias"):
        joined = b.add("Add", joined, "bias")
    total = b.extent("weights", -1)
    sizes = b.attributes.get("qkv_hidden_sizes") or [total // 3] * 3
    q, k, v = b.add("Split", joined, b.ints(*sizes), axis=2, n=3)
    return b.function(_attention(b, q, k, v, sizes[0]), version)


def _is_refused(b, *names):
    """Inputs and outputs that exporters leave out of a plain attention."""
    return any(map(b.has, names)) or any(b.node.output[1:])


def _attention(b, q, k, v, hidden):
    heads = b.attributes["num_heads"]
    scale = b.attributes.get("scale") or 1 / math.sqrt(hidden / heads)
    shape = b.ints(0, 0, heads, -1)
    q, k, v = (
        b.add("Transpose", b.add("Reshape", x, shape), perm=perm)
        for x, perm in ((q, [0, 2, 1, 3]), (k, [0, 2, 3, 1]), (v, [0, 2, 1, 3]))
    )
    scores = b.add("Mul", b.add("MatMul", q, k), b.add("Constant", value_float=scale))
    if b.has("attention_bias"):
        scores = b.add("Add", scores, "attention_bias")
    if b.attributes.get("unidirectional"):
        scores = _causal(b, scores)
    y = b.add("MatMul", b.add("Softmax", scores, axis=-1), v)
    y = b.add("Transpose", y, perm=[0, 2, 1, 3])
    return b.add("Reshape", y, b.ints(0, 0, -1))


def _causal(b, scores):
    """-inf above the diagonal: an item sees itself and those before."""
    n = b.extent("query" if "query" in b.formal else "input", 1)
    above = [float("-inf") if j > i else 0.0 for i in range(n) for j in range(n)]
    mask = helper.make_tensor("above", TensorProto.FLOAT, [n, n], above)
    return b.add("Add", scores, b.add("Constant", value=mask))


_BODIES = {
    "DynamicQuantizeMatMul": _dynamic_quantize_matmul,
    "MatMulIntegerToFloat": _matmul_integer_to_float,
    "MultiHeadAttention": _multi_head_attention,
    "Attention": _self_attention,
}
