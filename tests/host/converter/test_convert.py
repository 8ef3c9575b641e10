"""The converter as a whole: what it accepts, what it says, what it refuses, byte for byte."""

import json
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError, UnsupportedModel, UsageError

ROOT = Path(__file__).parents[3]


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def model_of(nodes, inputs, outputs, constants=(), opset=17, **kwargs):
    inits = [numpy_helper.from_array(np.asarray(v), n) for n, v in constants]
    graph = helper.make_graph(nodes, "g", inputs, outputs, inits)
    imports = [helper.make_opsetid("", opset)]
    return helper.make_model(graph, opset_imports=imports, ir_version=8, **kwargs)


def relu(shape=("batch", 4), out_shape=("batch", 4)):
    nodes = [helper.make_node("Relu", ["x"], ["y"], name="r")]
    return model_of(nodes, [value("x", shape)], [value("y", out_shape)])


def cli(*args):
    command = [sys.executable, "-m", "tools.converter", *map(str, args)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_free_leading_dimension_is_one_and_said():
    converted = convert(relu())
    assert converted.graph.inputs[0].shape == (1, 4)
    assert "batch taken as 1" in converted.notes[0]


def test_dim_and_shape_fix_what_is_free():
    assert convert(relu(), Options(dims={"batch": 3})).graph.outputs[0].shape == (3, 4)
    assert convert(relu(), Options(shapes={"x": [5, 4]})).graph.outputs[0].shape == (5, 4)


def test_free_dimensions_are_refused_together():
    with pytest.raises(ConvertError, match=r"x \[1, time, 4\]"):
        convert(relu(("batch", "time", 4), ("batch", "time", 4)))


@pytest.mark.parametrize(
    "options",
    [
        Options(shapes={"nope": [1]}),
        Options(shapes={"x": [1, 5]}),
        Options(shapes={"x": [1]}),
        Options(dims={"nope": 1}),
        Options(dims={"batch": -3}),
        Options(shapes={"x": [-1, 4]}),
        Options(bounds={"batch": 0}),
        Options(bind={"nope": np.zeros(1)}),
    ],
)
def test_options_that_do_not_fit_are_refused(options):
    with pytest.raises(UsageError):
        convert(relu(), options)


def test_a_dimension_that_is_not_there_is_named():
    with pytest.raises(UsageError, match="no dimension n; there are batch$"):
        convert(relu(), Options(dims={"n": 1}))
    with pytest.raises(UsageError, match="no dimension batch; all are fixed$"):
        convert(relu((1, 4), (1, 4)), Options(dims={"batch": 1}))
    free = ("batch", "time", 4)
    with pytest.raises(UnsupportedModel, match=r"at x \[1, time, 4\]\n.*--bound: .*\n *at tim$"):
        convert(relu(free, free), Options(bounds={"tim": 40}))


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
    """An operator without a kernel, an attribute, an unknown axis, a dtype; and what follows."""
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


def test_one_report_names_four_problems_and_not_what_follows_from_them(tmp_path):
    path = tmp_path / "m.onnx"
    onnx.save(lacking(), path)
    done = cli(path, tmp_path / "m.bin")
    assert done.returncode == 1 and not (tmp_path / "m.bin").exists()
    assert "for 4 reason(s)" in done.stderr and "follows" not in done.stderr
    assert "com.acme::Nonsense (opset 1): this operator has no kernel" in done.stderr
    assert "at first, fifth" in done.stderr
    assert "LpPool (opset 17): auto_pad HALF\n      at second" in done.stderr
    assert "input 1 (k) is not known at conversion" in done.stderr
    assert "input: dtype complex64\n      at i" in done.stderr


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
    found = [(finding.what, finding.name) for finding in caught.value.findings]
    assert found == [("input", "x [1, time]")] + [("com.acme::Odd (opset 1)", "odd")] * 2


def test_a_shape_chain_folds_once_dims_are_fixed():
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Unsqueeze", ["n", "axes"], ["n1"]),
        helper.make_node("Concat", ["n1", "minus"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["flat"]),
        helper.make_node("Relu", ["flat"], ["y"]),
    ]
    constants = [("zero", np.int64(0)), ("axes", np.int64([0])), ("minus", np.int64([-1]))]
    model = model_of(nodes, [value("x", ["n", 2, 3])], [value("y", ["n", "m"])], constants)
    converted = convert(model, Options(dims={"n": 4}))
    assert [s.kernel for s in converted.graph.steps] == ["relu"]
    assert converted.graph.outputs[0].shape == (4, 6)


def test_an_unsorted_graph_is_sorted():
    nodes = [helper.make_node("Relu", ["a"], ["y"]), helper.make_node("Relu", ["x"], ["a"])]
    converted = convert(model_of(nodes, [value("x", [2])], [value("y", [2])]))
    assert len(converted.graph.steps) == 2


def test_initializers_listed_as_inputs_are_constants():
    nodes = [helper.make_node("Gemm", ["x", "w"], ["y"])]
    inputs = [value("x", [1, 2]), value("w", [2, 3])]
    model = model_of(nodes, inputs, [value("y", [1, 3])], [("w", np.ones((2, 3), np.float32))])
    assert [t.name for t in convert(model).graph.inputs] == ["x"]


def test_local_functions_are_inlined():
    body = [helper.make_node("Relu", ["a"], ["b"])]
    opset = [helper.make_opsetid("", 17)]
    function = helper.make_function("com.acme", "Wrapped", ["a"], ["b"], body, opset)
    nodes = [helper.make_node("Wrapped", ["x"], ["y"], domain="com.acme")]
    model = model_of(nodes, [value("x", [2])], [value("y", [2])], functions=[function])
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    assert [s.kernel for s in convert(model).graph.steps] == ["relu"]


def test_the_same_model_gives_the_same_bytes():
    assert convert(relu()).data == convert(relu()).data


def test_strip_leaves_only_what_runs():
    assert len(convert(relu(), Options(strip=True)).data) < len(convert(relu()).data)


def test_command_line_reports_json(tmp_path):
    onnx.save(relu(), tmp_path / "m.onnx")
    done = cli(tmp_path / "m.onnx", tmp_path / "m.bin", "--dim", "batch=2", "--json")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["file_bytes"] == (tmp_path / "m.bin").stat().st_size
    assert report["arena_bytes"] == report["arena_lower_bound_bytes"] == 32
    keys = {"nodes", "steps", "macs", "weight_bytes", "scratch_bytes", "inputs", "outputs"}
    assert keys <= set(report)


@pytest.mark.parametrize(
    ("contents", "args", "status"),
    [
        (b"this is not onnx", (), 1),
        (b"", (), 1),
        (relu().SerializeToString(), ("--shape", "x"), 2),
        (relu().SerializeToString(), ("--dim", "batch="), 2),
        (relu().SerializeToString(), ("--dim", "batch=1,2"), 2),
        (relu().SerializeToString(), ("--bound", "batch=three"), 2),
        (relu().SerializeToString(), ("--bind", "x=/nonexistent.npy"), 2),
        (relu().SerializeToString()[:-9], (), 1),
    ],
)
def test_command_line_refuses_without_a_traceback(tmp_path, contents, args, status):
    (tmp_path / "m.onnx").write_bytes(contents)
    done = cli(tmp_path / "m.onnx", tmp_path / "m.bin", *args)
    assert done.returncode == status, done.stderr
    assert done.stderr.startswith("converter: ") and "Traceback" not in done.stderr


def product(op_type, x, w, dtype=np.float32):
    """A model of one node whose operands do not fit."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    out = TensorProto.INT32 if dtype == np.int8 else kind
    y = [1, w[0], 3, 3] if op_type == "Conv" else [1, w[1]]
    nodes = [helper.make_node(op_type, ["x", "w"], ["y"], name="fc")]
    return model_of(nodes, [value("x", x, kind)], [value("y", y, out)], [("w", np.ones(w, dtype))])


@pytest.mark.parametrize(
    ("model", "said"),
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
def test_operands_that_do_not_fit_are_named_with_their_shapes(model, said):
    with pytest.raises(UnsupportedModel) as caught:
        convert(model)
    assert said in str(caught.value) and "at fc" in str(caught.value)


def test_an_input_that_nothing_gives_is_one_line(tmp_path):
    model = relu()
    model.graph.node[0].input[0] = "q"
    onnx.save(model, tmp_path / "m.onnx")
    done = cli(tmp_path / "m.onnx", tmp_path / "m.bin")
    said = "converter: the model breaks ONNX's rules: nothing gives input q of Relu r\n"
    assert (done.returncode, done.stderr) == (1, said)


def test_an_input_that_nothing_gives_in_a_body_is_named():
    body = [helper.make_node("Relu", ["q"], ["b"], name="inner")]
    branch = helper.make_graph(body, "branch", [], [value("b", [1])])
    nodes = [helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)]
    model = model_of(nodes, [value("c", [], TensorProto.BOOL)], [value("y", [1])])
    with pytest.raises(ConvertError, match=r"input 'q' of node: name: inner [^\n]*$"):
        convert(model)


def test_a_missing_file_is_one_line(tmp_path):
    for words in (
        (tmp_path / "none.onnx", tmp_path / "m.bin"),
        ("inspect", tmp_path / "none.onnx"),
        ("tensor", tmp_path / "none.onnx", tmp_path / "m.bin"),
    ):
        done = cli(*words)
        assert done.returncode == 1
        assert done.stderr == f"converter: {tmp_path / 'none.onnx'}: No such file or directory\n"


def mutated(model, rng):
    """A copy with one thing wrong: an attribute, edge or operator, or a constant's shape."""
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


def test_a_model_that_makes_no_sense_is_refused_with_a_report():
    model = onnx.load(ROOT / "examples" / "digits" / "digits.onnx")
    rng = random.Random(7)
    refused = 0
    for _ in range(400):
        try:
            convert(mutated(model, rng), Options(strip=True))
        except ConvertError:  # anything else would be a traceback
            refused += 1
    assert refused > 100
