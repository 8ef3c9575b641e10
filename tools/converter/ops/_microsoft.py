"""Helpers of the lowerings for domain com.microsoft: shape inference and activations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import onnx
from onnx import defs, helper, shape_inference

from ..errors import Problem
from ..ir import Tensor
from ..shapes import extent_forms, misjudged, window_rules
from ._elementwise import emit_binary, emit_by_element, emit_unary, float_bits
from ._move import emit_transpose

Types = list[tuple[int, Sequence[int]]]

# For each activation (name of ONNX's attribute, default) of its constants.
_CONSTANTS = {
    "Clip": (("min", -np.inf), ("max", np.inf)),
    "Elu": (("alpha", 1.0),),
    "HardSigmoid": (("alpha", 0.2), ("beta", 0.5)),
    "LeakyRelu": (("alpha", 0.01),),
    "ParametricSoftplus": (("alpha", 1.0), ("beta", 1.0)),
    "Relu": (),
    "ScaledTanh": (("alpha", 1.0), ("beta", 1.0)),
    "Sigmoid": (),
    "Softplus": (),
    "Softsign": (),
    "Tanh": (),
    "ThresholdedRelu": (("alpha", 1.0),),
}

# This project's shape rules for run-time dimensions, which onnx cannot infer.
_WINDOWS = {
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), window_rules.pool),
    "Conv": window_rules.conv,
    "ConvTranspose": window_rules.conv_transpose,
    "GlobalAveragePool": window_rules.global_pool,
}

# Activations alpha * f(beta * x), by f.
_SCALED = {"ParametricSoftplus": "softplus", "ScaledTanh": "tanh"}


def like(i: int, dtype_of: int | None = None) -> Callable:
    """Return a rule of inference: the shape of input i, and the dtype of input `dtype_of` or i."""
    j = i if dtype_of is None else dtype_of
    return lambda node: [(node.inputs[j].dtype, node.inputs[i].shape)]


def as_onnx(node, op: str, inputs: Sequence[Tensor | None], opset: int = 13) -> Types:
    """Return (dtype, shape) of each output as onnx infers it for its operator `op`.

    A dimension is None if onnx leaves it open.

    Args:
        node: supplies the attributes.
        op: ONNX's operator.
        inputs: tensors; None for an omitted one.
        opset: version of the operator.
    """
    schema = defs.get_schema(op, opset, "")
    names = [t and f"x{i}" or "" for i, t in enumerate(inputs)]
    proto = helper.make_node(op, names, ["y"])
    proto.attribute.extend(a for a in node.proto.attribute if a.name in schema.attributes)
    types = {
        name: helper.make_tensor_type_proto(t.dtype, extent_forms.symbols(t.shape))
        for name, t in zip(names, inputs, strict=True)
        if t is not None
    }
    opsets = [helper.make_opsetid("", opset)]
    try:
        inferred = shape_inference.infer_node_outputs(schema, proto, types, opset_imports=opsets)
    except shape_inference.InferenceError as e:
        raise Problem(" ".join(str(e).split())) from None
    values = [_value_of(inferred[name]) for name in proto.output if name in inferred]
    is_open = op in _WINDOWS and None in values[0][1]  # onnx gives up on open dims
    if is_open or misjudged.fault_of(proto, opset, {}):
        values = _WINDOWS[op](None, proto, *[(t.dtype, t.shape) for t in inputs if t])
    return values


def _value_of(type_proto: onnx.TypeProto):
    t = type_proto.tensor_type
    dims = [
        d.dim_value if d.HasField("dim_value") else extent_forms.parsed(d.dim_param)
        for d in t.shape.dim
    ]
    return t.elem_type, dims


def lower_with(
    node,
    lower: Callable,
    outputs: Sequence[Tensor],
    inputs: Sequence[Tensor | None] | None = None,
) -> None:
    """Call lower(node) with other tensors as the node's outputs, and as its inputs if not None."""
    own = node.inputs, node.outputs
    node.inputs, node.outputs = node.inputs if inputs is None else list(inputs), list(outputs)
    try:
        lower(node)
    finally:
        node.inputs, node.outputs = own


def emit_activation(node, name: str, constants: Sequence[float | None], x: Tensor, out: Tensor):
    """Emit out = activation(x).

    Args:
        node: the node to lower.
        name: name of the activation.
        constants: its parameters, in the order of _CONSTANTS; None for a default.
        x: the input.
        out: the output.
    """
    if name not in _CONSTANTS:
        raise Problem(f"activation {name}")
    padded = [*constants, *[None] * len(_CONSTANTS[name])]
    defaults = [default for _, default in _CONSTANTS[name]]
    c = [d if v is None else v for v, d in zip(padded, defaults, strict=False)]
    if name == "Relu":
        emit_by_element(node, "relu", x, out)
    elif name == "Clip":
        emit_by_element(node, "clip", x, out, limits=[float_bits(v) for v in c])
    elif name in _SCALED:
        scaled, y = node.temp(x.dtype, x.shape), node.temp(x.dtype, x.shape)
        emit_binary(node, "mul", x, c[1], scaled)
        emit_unary(node, _SCALED[name], scaled, y)
        emit_binary(node, "mul", y, c[0], out)
    elif name == "Elu":
        emit_unary(node, "elu", x, out, 1.0, c[0], 1.0)
    else:
        emit_unary(node, name.lower(), x, out, *c)


def transposed(node, x: Tensor, perm: Sequence[int]) -> Tensor:
    """Return numpy.transpose(x, perm), at conversion if x is known."""
    if list(perm) == sorted(perm):
        return x
    if x.data is not None:
        return node.constant(x.data.transpose(perm))
    out = node.temp(x.dtype, [x.shape[a] for a in perm])
    emit_transpose(node, x, out, x.shape, perm)
    return out
