"""Run rewritten graphs in onnxruntime, also those for boards, and compare the outputs."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from tools.converter.reference import golden
from tools.converter.rewrites.qdq import functions
from tools.converter.shapes.infer import infer
from tools.converter.shapes.types import known_values

BOUND = 1e-5  # of the largest magnitude of an output
_LAST_BITS, _TIMES = 2.0**-22, 5
OFTEN = 0.999  # of integers that are the same, where others may be a step away
_MS, _OWN = functions.MS, functions.OWN
# Operators of which onnxruntime has no form for some dtypes: their operands and result, each with
# the place of its zero point. The result has no place.
_PRODUCTS = {
    "QGemm": ({0: 2, 3: 5}, 8),
    "QLinearConv": ({0: 2, 3: 5}, 7),
    "QLinearMatMul": ({0: 2, 3: 5}, 7),
}
_U8, _S8, _S32 = onnx.TensorProto.UINT8, onnx.TensorProto.INT8, onnx.TensorProto.INT32


def run(model: onnx.ModelProto, values) -> list[np.ndarray]:
    result = golden.reference(model, values)
    assert result is not None, golden.why_none(model, values)
    return result


def runnable(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return the model with operators that onnxruntime lacks replaced by standard ones."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    constants = {t.name: numpy_helper.to_array(t) for t in copy.graph.initializer}
    _put_others(copy.graph, copy.graph, constants)
    if not any(f.name == "Lookup" for f in copy.functions):
        opset = next(o.version for o in copy.opset_import if not o.domain)
        copy.functions.append(functions.definition("Lookup", opset))
    if not any(o.domain == _OWN for o in copy.opset_import):
        copy.opset_import.append(helper.make_opsetid(_OWN, 1))
    return copy


def _put_others(graph, whole, constants):
    nodes = []
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _put_others(attribute.g, whole, constants)
        if node.op_type == "ConvMaxPool":
            nodes += _apart(node)
        elif node.op_type == "Decays":
            nodes += _decays(node, whole)
        elif node.op_type == "Heads":
            nodes += _heads(node, whole)
        elif node.op_type in ("DynamicNorm", "DynamicGate"):
            nodes += _dynamic(node)
        elif node.op_type == "ConvInteger" and _has_many_zeros(node, constants):
            nodes += _by_floats(node, whole, constants)
        elif node.op_type in _PRODUCTS and _is_mixed(node, constants):
            nodes += _signed(node, whole, constants)
        else:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)


def _apart(node):
    """Return a fused node as Conv, with its activation, and MaxPool."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    pool = list(attributes.pop("pool"))
    op, domain = ("FusedConv", _MS) if "activation" in attributes else ("Conv", "")
    between = f"{node.output[0]}/plane"
    return [
        helper.make_node(op, node.input, [between], domain=domain, **attributes),
        helper.make_node("MaxPool", [between], node.output, kernel_shape=pool, strides=pool),
    ]


def _decays(node, graph):
    """Return a node of decays as CDist, Mul and Exp."""
    apart, powers, by = (f"{node.output[0]}/{name}" for name in ("apart", "powers", "by"))
    factor = np.float32(-helper.get_attribute_value(node.attribute[0]))
    graph.initializer.append(numpy_helper.from_array(factor, by))
    return [
        helper.make_node("CDist", node.input, [apart], domain=_MS, metric="sqeuclidean"),
        helper.make_node("Mul", [apart, by], [powers]),
        helper.make_node("Exp", [powers], node.output),
    ]


def _heads(node, graph):
    """Return a node of attention heads as gathering of queries, keys, values and single steps."""
    attention = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    nodes, out, parts = [], node.output[0], []

    def constant(name, value):
        graph.initializer.append(numpy_helper.from_array(value, f"{out}/{name}"))
        return f"{out}/{name}"

    def add(op, inputs, name, **attributes):
        nodes.append(helper.make_node(op, inputs, [f"{out}/{name}"], **attributes))
        return f"{out}/{name}"

    flat = constant("flat", np.int64([-1]))
    dims = [attention[f"{one}_dims"] for one in "qkv"]
    n_heads = dims[0][1]
    for one, name, dim in zip("qkv", node.input, dims, strict=True):
        at = np.arange(dim[3]) + attention[f"{one}_first"]
        for n, stride in zip(dim[2::-1], attention[f"{one}_strides"][::-1], strict=True):
            at = at + (np.arange(n) * stride).reshape(-1, *[1] * at.ndim)
        at = np.repeat(at, n_heads // dim[1], 1)  # a group's keys are those of all its heads
        elements = add("Reshape", [name, flat], f"{one}/flat")
        parts.append(add("Gather", [elements, constant(f"{one}/at", at)], one))
    turned = add("Transpose", parts[1:2], "turned", perm=[0, 1, 3, 2])
    scores = add("MatMul", [parts[0], turned], "scores")
    scores = add("Mul", [scores, constant("scale", np.float32(attention["scale"]))], "scaled")
    if attention["causal"]:
        mask = np.triu(np.full((dims[0][2], dims[1][2]), -np.inf, np.float32), 1)
        scores = add("Add", [scores, constant("mask", mask)], "masked")
    powers = add("Softmax", [scores], "powers", axis=-1)
    y = add("MatMul", [powers, parts[2]], "y")
    shape, axes = attention["out_shape"], attention["out_axes"]
    order = [shape[a] for a in axes]
    y = add("Reshape", [y, constant("order", np.int64(order))], "whole")
    nodes.append(helper.make_node("Transpose", [y], [out], perm=np.argsort(axes).tolist()))
    return nodes


def _dynamic(node):
    """Return a dynamic norm or gate as float nodes and DynamicQuantizeLinear."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    reals, gated = (f"{node.output[0]}/{name}" for name in ("reals", "gated"))
    last = helper.make_node("DynamicQuantizeLinear", [gated], node.output)
    if node.op_type == "DynamicNorm":
        return [helper.make_node("LayerNormalization", node.input, [gated], **attributes), last]
    op = {b"gelu": "Gelu", b"gelu_tanh": "FastGelu", b"swish": "QuickGelu"}[attributes["gate"]]
    more = {"alpha": attributes["alpha"]} if op == "QuickGelu" else {}
    return [
        helper.make_node("ToFloat", node.input, [reals], domain=_OWN, axis=-1),
        helper.make_node(op, [reals], [gated], domain=_MS, **more),
        last,
    ]


def _has_many_zeros(node, constants):
    return len(node.input) > 3 and constants[node.input[3]].size > 1


def _by_floats(node, graph, constants):
    """Return an integer convolution as a Conv of floats, whose sums are as exact."""
    w, zero = (constants[name].astype(np.float32) for name in (node.input[1], node.input[3]))
    w = w - zero.reshape(-1, *[1] * (w.ndim - 1))
    out, zero_x = node.output[0], constants[node.input[2]].astype(np.float32)
    names = [f"{out}/{name}" for name in ("float", "zero", "centred", "w", "sums")]
    x, by, centred, weights, sums = names
    graph.initializer.append(numpy_helper.from_array(zero_x, by))
    graph.initializer.append(numpy_helper.from_array(w, weights))
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    return [
        helper.make_node("Cast", node.input[:1], [x], to=onnx.TensorProto.FLOAT),
        helper.make_node("Sub", [x, by], [centred]),
        helper.make_node("Conv", [centred, weights], [sums], **attributes),
        helper.make_node("Cast", [sums], [out], to=_S32),
    ]


def _is_mixed(node, constants):
    operands, result = _PRODUCTS[node.op_type]
    dtypes = [constants[node.input[i]].dtype.name for i in (*operands.values(), result)]
    return len({*dtypes}) > 1 and dtypes != ["uint8", "int8", "uint8"]


def _signed(node, graph, constants):
    """Return nodes that compute a product of bytes with int8 alone."""
    copy, (operands, result) = onnx.NodeProto(), _PRODUCTS[node.op_type]
    copy.CopyFrom(node)
    before, after = [], []
    for i, zero in operands.items():
        if constants[node.input[zero]].dtype == np.uint8:
            before += _moved(node.input[i], name := f"{node.output[0]}/signed{i}", -128, _S8)
            copy.input[i], copy.input[zero] = name, _lowered(node.input[zero], graph, constants)
    if constants[node.input[result]].dtype == np.uint8:
        copy.input[result] = _lowered(node.input[result], graph, constants)
        copy.output[0] = f"{node.output[0]}/signed"
        after = _moved(copy.output[0], node.output[0], 128, _U8)
    return [*before, copy, *after]


def _moved(x, out, number, dtype):
    """Return nodes that add a number to x and cast the sum to another dtype."""
    wide, by, total = (f"{out}/{name}" for name in ("wide", "by", "sum"))
    value = numpy_helper.from_array(np.int32(number))
    return [
        helper.make_node("Cast", [x], [wide], to=_S32),
        helper.make_node("Constant", [], [by], value=value),
        helper.make_node("Add", [wide, by], [total]),
        helper.make_node("Cast", [total], [out], to=dtype),
    ]


def _lowered(name, graph, constants):
    """Return a zero point of uint8 as the equivalent int8."""
    new = f"{name}/signed"
    if new not in constants:
        constants[new] = (constants[name].astype(np.int16) - 128).astype(np.int8)
        graph.initializer.append(numpy_helper.from_array(constants[new], new))
    return new


def wrong_types(model: onnx.ModelProto) -> dict:
    """Return the types that the model declares for its values and inference does not."""
    untyped = onnx.ModelProto()
    untyped.CopyFrom(model)
    del untyped.graph.value_info[:]
    inferred, message = known_values(infer(untyped).graph), known_values(model.graph)
    return {
        name: (inferred.get(name), t) for name, t in message.items() if inferred.get(name) != t
    }


def difference(expected, got, bound: float = BOUND, steps: int = 0, noise=None) -> str:
    """Return a description of the difference of outputs, "" without one.

    Args:
        expected: arrays of the original graph.
        got: arrays of the rewritten graph.
        bound: how far floats may differ, relative to the largest.
        steps: how far integers may differ.
        noise: how far each output may differ in any case.
    """
    if len(expected) != len(got):
        return "other outputs"
    noise = [0.0] * len(expected) if noise is None else noise
    results = [_difference(*of, bound, steps) for of in zip(expected, got, noise, strict=True)]
    return ", ".join(filter(None, results))


def _difference(a, b, noise, bound, steps):
    if a.shape != b.shape or a.dtype != b.dtype:
        return f"{a.dtype}{a.shape} is {b.dtype}{b.shape}"
    same = (a == b) | (a != a) & (b != b)
    apart = np.abs(a[~same].astype(np.float64) - b[~same])
    if not apart.size:
        return ""
    if a.dtype.kind == "f":
        largest = np.abs(a[np.isfinite(a)]).max(initial=0)
        is_small = apart.max() <= max(bound * largest, noise)
        return "" if is_small else f"{apart.max() / (largest or 1):.2g} apart"
    if apart.max() <= steps and apart.size <= 1 + (1 - OFTEN) * a.size:
        return ""
    return f"{apart.size} of {a.size} integers up to {apart.max():.0f} apart"


def noise_of(model: onnx.ModelProto, values, expected) -> list[float]:
    """Return by how much noise in the inputs' last bits changes each output.

    It is much if large summands cancel.
    """
    rng, result = np.random.default_rng(0), [0.0] * len(expected)
    for _ in range(_TIMES):
        others = [_with_noise(x, rng) if x.dtype == np.float32 else x for x in values]
        for i, (a, b) in enumerate(zip(expected, run(model, others), strict=True)):
            if a.dtype.kind == "f" and np.isfinite(a).all() and np.isfinite(b).all():
                result[i] = max(result[i], float(np.abs(a - b).max()))
    return result


def _with_noise(x, rng):
    return np.asarray(x * (1 + _LAST_BITS * rng.standard_normal(x.shape)), np.float32)
