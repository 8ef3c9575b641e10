"""The converter reports all reasons why it refuses a model, each with its nodes."""

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.host.converter.test_convert import ROOT, cli, model_of, relu, value
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError, UnsupportedModel


def test_everything_unsupported_is_reported_at_once():
    nodes = [
        helper.make_node("StringNormalizer", ["s"], ["t"], "first", case_change_action="TITLE"),
        helper.make_node("Nonsense", ["x"], ["y"], name="second", domain="com.acme"),
    ]
    strings = [value("s", [1], TensorProto.STRING), value("x", [1])]
    model = model_of(nodes, strings, [value("t", [1], TensorProto.STRING), value("y", [1])])
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    with pytest.raises(UnsupportedModel) as caught:
        convert(model)
    report = str(caught.value)
    assert "StringNormalizer (opset 17): case_change_action TITLE\n      at first" in report
    assert (
        "com.acme::Nonsense (opset 1): this operator has no kernel" in report
        and "at second" in report
    )


def lacking():
    """Return a model with an unknown operator, attribute, axis and dtype, and nodes behind."""
    nodes = [
        helper.make_node("Nonsense", ["x"], ["a"], name="first", domain="com.acme"),
        helper.make_node("Relu", ["a"], ["b"], name="follows"),
        helper.make_node("LpPool", ["z"], ["c"], name="second", kernel_shape=[2], auto_pad="HALF"),
        helper.make_node("CumSum", ["x", "k"], ["d"], name="third"),
        helper.make_node("Add", ["i", "i"], ["e"], name="fourth"),
        helper.make_node("Nonsense", ["d"], ["f"], name="fifth", domain="com.acme"),
    ]
    inputs = [value("x", [4]), value("z", [1, 1, 4]), value("k", [], TensorProto.INT64)]
    inputs.append(value("i", [2], TensorProto.COMPLEX64))
    outputs = [value("b", ["m"]), value("c", [1, 1, "m"]), value("d", [4]), value("f", ["m"])]
    model = model_of(nodes, inputs, [*outputs, value("e", [2], TensorProto.COMPLEX64)])
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    return model


def test_one_report_names_four_problems_without_their_consequences(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(lacking(), path)
    completed = cli(path, tmp_path / "m.bin")
    assert completed.returncode == 1 and not (tmp_path / "m.bin").exists()
    assert "for 4 reason(s)" in completed.stderr and "follows" not in completed.stderr
    assert "com.acme::Nonsense (opset 1): this operator has no kernel" in completed.stderr
    assert "at first, fifth" in completed.stderr
    assert "LpPool (opset 17): auto_pad HALF\n      at second" in completed.stderr
    assert "input 1 (k) is not known at conversion" in completed.stderr
    assert "input: dtype complex64\n      at i" in completed.stderr


def test_the_report_is_as_its_page_shows_it():
    nodes = [
        helper.make_node("Nonsense", ["x"], ["n"], name="first", domain="com.acme"),
        helper.make_node("CumSum", ["x", "k"], ["y"], name="second"),
    ]
    inputs = [value("x", [4]), value("k", [], TensorProto.INT64)]
    model = model_of(nodes, inputs, [value("n", [4]), value("y", [4])])
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    with pytest.raises(UnsupportedModel) as caught:
        convert(model)
    assert f"converter: {caught.value}\n" in (ROOT / "docs" / "convert.md").read_text()


def test_free_dimensions_do_not_hide_operators_without_a_kernel():
    body = [helper.make_node("Odd", ["a"], ["b"], name="odd", domain="com.acme")]
    branch = helper.make_graph(body, "branch", [], [value("b", [1])])
    nodes = [
        helper.make_node("MeanVarianceNormalization", ["x"], ["a"], axes=[1]),
        helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
    ]
    inputs = [value("x", [1, "time"]), value("c", [], TensorProto.BOOL)]
    model = model_of(nodes, inputs, [value("y", [1])])
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    with pytest.raises(UnsupportedModel) as caught:
        convert(model)
    results = [(finding.what, finding.name) for finding in caught.value.findings]
    assert results == [("input", "x [1, time]")] + [("com.acme::Odd (opset 1)", "odd")] * 2


def product(op_type, x, w, dtype=np.float32):
    """Return a model of one node whose operands do not fit."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    out = TensorProto.INT32 if dtype == np.int8 else kind
    y = [1, w[0], 3, 3] if op_type == "Conv" else [1, w[1]]
    nodes = [helper.make_node(op_type, ["x", "w"], ["y"], name="fc")]
    return model_of(nodes, [value("x", x, kind)], [value("y", y, out)], [("w", np.ones(w, dtype))])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (product("Gemm", [1, 5], [3, 4]), "x float32 [1, 5] and w float32 [3, 4] do not fit"),
        (product("MatMul", [1, 5], [3, 4]), "x float32 [1, 5] and w float32 [3, 4] do not fit"),
        (product("MatMulInteger", [1, 5], [3, 4], np.int8), "[1, 5] and w int8 [3, 4] do not fit"),
        (
            product("Conv", [1, 2, 5, 5], [3, 4, 3, 3]),
            "x float32 [1, 2, 5, 5] and w float32 [3, 4, 3, 3] do not fit: "
            "2 channels, weights for 4",
        ),
    ],
)
def test_operands_that_do_not_fit_are_named_with_their_shapes(model, message):
    with pytest.raises(UnsupportedModel) as caught:
        convert(model)
    assert message in str(caught.value) and "at fc" in str(caught.value)


def test_an_undefined_input_is_reported_in_one_line(tmp_path):
    model = relu()
    model.graph.node[0].input[0] = "q"
    onnx.save(model, tmp_path / "m.onnx")
    completed = cli(tmp_path / "m.onnx", tmp_path / "m.bin")
    message = "converter: the model breaks ONNX's rules: nothing gives input q of Relu r\n"
    assert (completed.returncode, completed.stderr) == (1, message)


def test_an_undefined_input_of_a_body_is_named():
    body = [helper.make_node("Relu", ["q"], ["b"], name="inner")]
    branch = helper.make_graph(body, "branch", [], [value("b", [1])])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]
    model = model_of(nodes, [value("c", [], TensorProto.BOOL)], [value("y", [1])])
    with pytest.raises(ConvertError, match=r"input 'q' of node: name: inner [^\n]*$"):
        convert(model)


def test_an_input_that_selects_a_branch_may_be_bound():
    """The sampling rate of a voice detector is one: its branches differ in shapes."""
    parts = []
    for k, name in ((4, "then"), (2, "else")):
        ends = [
            helper.make_node("Constant", [], [f"{n}{k}"], value_ints=[v])
            for n, v in (("a", 0), ("b", k), ("i", 1))
        ]
        part = helper.make_node("Slice", ["x", f"a{k}", f"b{k}", f"i{k}"], [f"y{k}"])
        out = helper.make_tensor_value_info(f"y{k}", TensorProto.FLOAT, [1, k])
        parts.append(helper.make_graph([*ends, part], name, [], [out]))
    rate = helper.make_node("Constant", [], ["rate"], value_int=16000)
    is_fast = helper.make_node("Equal", ["sr", "rate"], ["fast"])
    chosen = helper.make_node("If", ["fast"], ["y"], then_branch=parts[0], else_branch=parts[1])
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 8])
    sr = helper.make_tensor_value_info("sr", TensorProto.INT64, [])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, "n"])
    graph = helper.make_graph([rate, is_fast, chosen], "g", [x, sr], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    with pytest.raises(UnsupportedModel, match="--bind sr=FILE.npy chooses the branch"):
        convert(model)
    converted = convert(model, Options(bind={"sr": np.array(16000, np.int64)}))
    assert converted.graph.outputs[0].shape == (1, 4)


def mutated(model, rng):
    """Return a copy with one fault: in an attribute, edge, operator or a constant's shape."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    node, other = rng.choice(copy.graph.node), rng.choice(copy.graph.node)
    constant = rng.choice(copy.graph.initializer)
    kind = rng.randrange(5)
    if kind == 0 and node.attribute:
        attribute = rng.choice(node.attribute)
        if attribute.ints:
            attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice((0, -1, 7, 1 << 40))
        else:
            attribute.i = rng.choice((0, -1, 99))
    elif kind == 1 and node.attribute:
        del node.attribute[rng.randrange(len(node.attribute))]
    elif kind == 2:
        node.input[rng.randrange(len(node.input))] = other.output[0]
    elif kind == 3:
        node.op_type = rng.choice(("Gemm", "Conv", "Softmax", "Slice", "TopK", other.op_type))
    else:
        constant.dims[0] += rng.choice((-1, 1))
    return copy


def test_nonsensical_models_are_refused_with_a_report():
    model = onnx.load(ROOT / "examples" / "digits" / "digits.onnx")
    rng = random.Random(7)
    refused = 0
    for _ in range(400):
        try:
            convert(mutated(model, rng), Options(strip=True))
        except ConvertError:  # anything else would be a traceback
            refused += 1
    assert refused > 100
