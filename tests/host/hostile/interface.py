"""Impossible shapes, opsets and names."""

from __future__ import annotations

from onnx import helper

from .case import FLOAT, INT64, Case, Cases, changed, model, node, relu, value

_SHAPES = {
    "giga": [1 << 31],
    "huge": [1 << 62],
    "most": [(1 << 63) - 1],
    "product_of_three": [1 << 21] * 3,
    "product_wraps_to_0": [1 << 32, 1 << 32],
    "product_wraps_to_4": [(1 << 62) + 1, 4],
    "gigabytes": [1, 3, 20000, 20000],
    "rank_70": [2] * 70,
    "rank_5000": [2] * 5000,
}
_CONTROLS = {
    "escape": "\x1b[31mred\x1b]0;title\x07",
    "newline": "a\nconverted",
    "return": "a\rconverted",
    "backspace": "abc\b\b\b",
    "nul": "a\0b",
    "delete": "a\x7f",
    "c1": "a\x9b31m",
    "bidi": "a\u202eb",
    "line_separator": "a\u2028b",
    "zero_width": "a\u200bb\ufeff",
}
_NOT_UTF8 = b"\xff\xfe\xc0\x80"


def cases() -> Cases:
    for name, shape in _SHAPES.items():
        yield Case(
            f"dims_in_{name}", model(node("Relu", "x"), [value("x", shape)], [value("y", shape)])
        )
    for name, shape in {"minus": [2, -1 << 60], "minus_1_inside": [1, -1]}.items():
        relus = model(node("Add", "x c"), [value("x", shape)], [value("y", shape)], {"c": [1.0]})
        yield Case(f"dims_in_{name}", relus)
    yield Case("dtype_out_other", model(node("Relu", "x"), None, [value("y", [4], INT64)]))
    yield Case(
        "dims_free", model(node("Relu", "x"), [value("x", [1, "n"])], [value("y", [1, "n"])])
    )
    yield Case("shape_none", changed(_without_shape))
    yield Case("type_none", changed(lambda m: m.graph.input[0].ClearField("type")))
    for number in (0, 14, 15, 77, 2**31 - 1):
        yield Case(f"dtype_in_{number}", changed(lambda m, n=number: _set_dtype(m, n)))
    yield from _opsets()
    yield from _names()


def _without_shape(m):
    m.graph.input[0].type.tensor_type.ClearField("shape")


def _set_dtype(m, number):
    m.graph.input[0].type.tensor_type.elem_type = number


def _opsets():
    for version in (99, 29, 0, -1, 2**63 - 1, -(2**63)):
        yield Case(f"opset_{version}", model(node("Relu", "x"), opset=version))
    yield Case("opset_ml_99", model(node("Relu", "x"), ai_onnx_ml=99))
    yield Case("opset_two", changed(lambda m: m.opset_import.add(domain="", version=9)))
    yield Case(
        "opset_two_names", changed(lambda m: m.opset_import.add(domain="ai.onnx", version=9))
    )
    yield Case("opset_none", changed(lambda m: m.ClearField("opset_import")))
    for version in (0, 999, -3):
        yield Case(
            f"ir_version_{version}", changed(lambda m, v=version: setattr(m, "ir_version", v))
        )
    yield Case("ir_version_none", changed(lambda m: m.ClearField("ir_version")))
    yield Case("domain_unknown", model(node("Relu", "x", domain="evil.example"), evil_example=1))
    yield Case("domain_not_imported", model(node("Gelu", "x", domain="com.microsoft")))
    yield Case("training", changed(lambda m: m.graph.node[0].CopyFrom(node("Adagrad", "x"))))


def _names():
    for name, text in _CONTROLS.items():
        yield Case(f"operator_{name}", model(node("Relu" + text, "x")))
        odd = model([node("Odd", "x", name=text, domain=text)])
        odd.opset_import.add(domain=text, version=1)
        yield Case(f"domain_{name}", odd)
        yield Case(
            f"input_{name}", changed(lambda m, t=text: m.graph.node[0].input.__setitem__(0, t))
        )
        yield Case(
            f"dim_{name}", model(node("Relu", "x"), [value("x", [1, text])], [value("y", [1, 4])])
        )
    for where in ("node", "operator", "input", "output", "dim", "attribute", "graph", "domain"):
        yield Case(f"not_utf8_{where}", _with_bytes(where))
    yield Case("operator_of_1_mb", model(node("R" * (1 << 20), "x")))
    yield Case("operator_empty", model(node("", "x")))
    yield Case("output_named_as_input", model([node("Relu", "x", "x"), node("Relu", "x")]))
    yield Case("outputs_alike", model([node("Relu", "x"), node("Abs", "x")]))
    yield Case("outputs_alike_in_a_node", model(node("Split", "x", "y y", axis=0)))
    yield Case("inputs_alike", model(node("Relu", "x"), [value("x"), value("x")]))
    yield Case("constant_named_as_value", model(node("Relu", "x"), constants={"y": [1.0]}))
    same = helper.make_tensor("c", FLOAT, [1], [1.0])
    twice = model(node("Add", "x c"), constants={"c": same})
    yield Case("constants_alike", changed(lambda m: m.graph.initializer.append(same), twice))
    yield Case("names_equal_when_escaped", _equal_when_escaped())


def _equal_when_escaped():
    return model(
        [node("Relu", "x", "a\x07"), node("Abs", "x", "a\\x07"), node("Add", "a\x07 a\\x07")]
    )


def _with_bytes(where):
    """Return a model with bytes that are not text as one of its names."""
    mark = "@@@@"
    m = relu()
    n = m.graph.node[0]
    if where == "attribute":
        n.attribute.append(helper.make_attribute(mark, 1))
    elif where == "input":
        m.graph.input[0].name = n.input[0] = mark
    elif where == "output":
        m.graph.output[0].name = n.output[0] = mark
    elif where == "dim":
        m.graph.input[0].type.tensor_type.shape.dim[0].dim_param = mark
    else:
        owner = m.graph if where == "graph" else n
        setattr(owner, {"operator": "op_type", "domain": "domain"}.get(where, "name"), mark)
    return m.SerializeToString().replace(mark.encode(), _NOT_UTF8)
