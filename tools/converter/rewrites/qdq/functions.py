"""Define operators of this project for integers, as functions of ONNX's operators.

ONNX and com.microsoft have no operators that compute this. Other runtimes compute them as they are
defined: most as DequantizeLinear, an operator of floats and QuantizeLinear.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import onnx
import onnx_ir as ir
from onnx import defs, helper, parser

from .._graph import MS, OWN
from .._norm import NORM, NORM_SINCE
from ._edit import Edit

_QUANTIZING = ("DequantizeLinear", "QuantizeLinear")


def _between(head: str, *nodes: str) -> str:
    """Return a function of these nodes between DequantizeLinear of x and QuantizeLinear."""
    inner = "\n".join(nodes)
    return f"""{head} => (y) {{
        real_x = DequantizeLinear (x, x_scale, x_zero)
        {inner}
        y = QuantizeLinear (real, y_scale, y_zero)
    }}"""


_NORM = "real = LayerNormalization (real_x, scale, bias)"
# An attribute of a function is that of each node in it whose operator has one of this name.
_ALL = [
    "Lookup (x, table) => (y) { index = Cast <to = 6> (x)  y = Gather <axis = 0> (table, index) }",
    "Scale (x, w) => (y) { y = Mul (x, w) }",
    """ToFloat <axis> (x, scale, offset) => (y) {
        real = Cast <to = 1> (x)
        scaled = Mul (real, scale)
        y = Add (scaled, offset)
    }""",
    _between(
        """QLinearAveragePool <auto_pad, ceil_mode, count_include_pad, kernel_shape, pads, strides>
        (x, x_scale, x_zero, y_scale, y_zero)""",
        "real = AveragePool (real_x)",
    ),
    _between(
        "QLinearGlobalAveragePool (x, x_scale, x_zero, y_scale, y_zero)",
        "real = GlobalAveragePool (real_x)",
    ),
    _between(
        "QLinearSoftmax <axis> (x, x_scale, x_zero, y_scale, y_zero)",
        "real = Softmax (real_x)",
    ),
    _between(
        """QLinearLayerNormalization <axis, epsilon>
        (x, x_scale, x_zero, scale, bias, y_scale, y_zero)""",
        _NORM,
    ),
    """QLinearDeviation (x, x_scale, x_zero, v_scale, v_zero, roots, y_scale, y_zero) => (y) {
        real_x = DequantizeLinear (x, x_scale, x_zero)
        axes = Constant <value: tensor = int64[1] {-1}> ()
        mean = ReduceMean (real_x, axes)
        d = Sub (real_x, mean)
        squares = Mul (d, d)
        variance = ReduceMean (squares, axes)
        v = QuantizeLinear (variance, v_scale, v_zero)
        index = Cast <to = 6> (v)
        root = Gather <axis = 0> (roots, index)
        real = Div (d, root)
        y = QuantizeLinear (real, y_scale, y_zero)
    }""",
    _between(
        """QLinearResize <coordinate_transformation_mode, mode>
        (x, x_scale, x_zero, y_scale, y_zero, roi, scales, sizes)""",
        "real = Resize (real_x, roi, scales, sizes)",
    ),
    _between(
        """QLinearConvTranspose
        <auto_pad, dilations, group, output_padding, output_shape, pads, strides>
        (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, b)""",
        "real_w = DequantizeLinear <axis = 1> (w, w_scale, w_zero)",
        "real = ConvTranspose (real_x, real_w, b)",
    ),
    _between(
        """WideConv <auto_pad, dilations, group, kernel_shape, pads, strides>
        (x, x_scale, x_zero, w, w_scale, b, y_scale, y_zero)""",
        "real_w = DequantizeLinear <axis = 0> (w, w_scale)",
        "real = Conv (real_x, real_w, b)",
    ),
    _between(
        "WideGemm (x, x_scale, x_zero, w, w_scale, b, y_scale, y_zero)",
        "real_w = DequantizeLinear <axis = 0> (w, w_scale)",
        "real = Gemm <transB = 1> (real_x, real_w, b)",
    ),
    *(
        _between(
            f"Wide{op} (x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero)",
            "real_w = DequantizeLinear (w, w_scale, w_zero)",
            f"real = {op} (real_x, real_w)",
        )
        for op in ("Add", "Sub", "Mul")
    ),
    _between(
        "WideClip (x, x_scale, x_zero, low, high, y_scale, y_zero)",
        "real = Clip (real_x, low, high)",
    ),
    _between(
        """WideAveragePool <count_include_pad, kernel_shape, pads, strides>
        (x, x_scale, x_zero, y_scale, y_zero)""",
        "real = AveragePool (real_x)",
    ),
    _between(
        "WideGlobalAveragePool (x, x_scale, x_zero, y_scale, y_zero)",
        "real = GlobalAveragePool (real_x)",
    ),
    *(
        f"""WideMaxPool{name} <auto_pad, ceil_mode, dilations, kernel_shape, pads, strides>
        (x) => (y) {{
            real_x = Cast <to = 1> (x)
            real = MaxPool (real_x)
            y = Cast <to = {dtype}> (real)
        }}"""
        for name, dtype in (("Int16", 5), ("Uint16", 4))
    ),
]
_TEXTS = {text.split()[0]: text for text in _ALL}
_AXES_SINCE = 18  # the opset from which on they are an input of ReduceMean
# By the beginning of a name: the opset from which on ONNX has the QuantizeLinear and
# DequantizeLinear that are meant; com.microsoft's serve below.
_SINCE = {"QLinearConvTranspose": 13, "QLinearResize": 13, "Wide": 21}


def call(
    edit: Edit,
    name: str,
    inputs: Sequence[ir.Value | None],
    node_name: str,
    like: ir.Node | None = None,
    out: ir.Value | None = None,
    **attributes,
) -> ir.Node:
    """Return a new node of one of these operators, which the model defines from here on.

    Args:
        edit: the round.
        name: the operator.
        inputs: its inputs.
        node_name: the node's name.
        like: a node whose attributes it takes over, as far as the operator has them.
        out: its output; None for one that will take over another node's.
        attributes: its attributes.
    """
    functions, key = edit.model.functions, (OWN, name, "")
    if key not in functions:
        functions[key] = ir.serde.deserialize_function(definition(name, edit.opset))
        edit.model.ir_version = max(edit.model.ir_version, 8)  # the first with functions
    node = edit.node(name, inputs, node_name, out, OWN, **attributes)
    if like is not None:
        known = functions[key].attributes
        node.attributes.update({k: a for k, a in like.attributes.items() if k in known})
    return node


def definition(name: str, opset: int) -> onnx.FunctionProto:
    """Return the function that defines an operator, of ONNX's operators at an opset."""
    head = f'<opset_import: ["" : {opset}], domain: "{OWN}">'
    text = _TEXTS[name]
    if opset < NORM_SINCE:
        text = text.replace(_NORM, NORM)
    if opset < _AXES_SINCE:
        text = re.sub(r"ReduceMean \((\w+), axes\)", r"ReduceMean <axes = [-1]> (\1)", text)
    function = parser.parse_function(head + text)
    since = max((n for start, n in _SINCE.items() if name.startswith(start)), default=0)
    for node in function.node:
        if opset < since and node.op_type in _QUANTIZING:
            node.domain = MS
        else:
            _refer(node, function.attribute, defs.get_schema(node.op_type, opset).attributes)
    if any(node.domain for node in function.node):
        function.opset_import.append(helper.make_opsetid(MS, 1))
    return function


def _refer(node, names, known):
    """Pass a function's attributes on to a node in it, except those that its operator lacks.

    Args:
        node: the node.
        names: the function's attributes.
        known: {name: attribute of the operator}.
    """
    for name in names:
        if name in known:
            new = node.attribute.add()
            new.name = new.ref_attr_name = name
            new.type = known[name].type.value
