"""The converter as a whole: what it accepts, reports and refuses, byte for byte."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from tests.host.device.small import value
from tools.converter.__main__ import main
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError, UnsupportedModel, UsageError

ROOT = Path(__file__).parents[3]


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


def test_a_free_leading_dimension_becomes_1_with_a_note():
    converted = convert(relu())
    assert converted.graph.inputs[0].shape == (1, 4)
    assert "batch taken as 1" in converted.notes[0]


def test_dim_and_shape_fix_free_dimensions():
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
def test_conflicting_options_are_refused(options):
    with pytest.raises(UsageError):
        convert(relu(), options)


def test_an_unknown_dimension_is_named():
    with pytest.raises(UsageError, match="no dimension n; there are batch$"):
        convert(relu(), Options(dims={"n": 1}))
    with pytest.raises(UsageError, match="no dimension batch; all are fixed$"):
        convert(relu((1, 4), (1, 4)), Options(dims={"batch": 1}))
    free = ("batch", "time", 4)
    with pytest.raises(UnsupportedModel, match=r"at x \[1, time, 4\]\n.*--bound: .*\n *at tim$"):
        convert(relu(free, free), Options(bounds={"tim": 40}))


def test_opsets_below_7_are_upgraded():
    """Below opset 7 a node's attributes say how its inputs are broadcast."""
    nodes = [helper.make_node("Add", ["x", "w"], ["y"], broadcast=1, axis=0)]
    constants = [("w", np.array([1, 2, 3], np.float32))]
    model = model_of(nodes, [value("x", [3, 2])], [value("y", [3, 2])], constants, opset=6)
    completed = ReferenceEvaluator(convert(model).model).run(
        None, {"x": np.zeros((3, 2), np.float32)}
    )
    assert completed[0].tolist() == [[1, 1], [2, 2], [3, 3]]


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


def test_a_node_moves_before_the_branches_that_capture_its_output():
    """onnxruntime's quantizer writes such graphs: it sorts only by the nodes' own inputs."""
    branches = {
        f"{name}_branch": helper.make_graph(
            [helper.make_node(op, ["a"], [name])], name, [], [value(name, [2])]
        )
        for name, op in (("then", "Relu"), ("else", "Neg"))
    }
    nodes = [
        helper.make_node("If", ["c"], ["y"], **branches),
        helper.make_node("Exp", ["x"], ["a"]),
    ]
    inputs = [value("c", [], TensorProto.BOOL), value("x", [2])]
    first, last = convert(model_of(nodes, inputs, [value("y", [2])])).graph.steps
    assert first.node.startswith("Exp") and last.node.startswith("If")


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


def test_strip_keeps_only_what_a_run_needs():
    assert len(convert(relu(), Options(strip=True)).data) < len(convert(relu()).data)


def test_command_line_reports_json(tmp_path):
    onnx.save(relu(), tmp_path / "m.onnx")
    completed = cli(tmp_path / "m.onnx", tmp_path / "m.bin", "--dim", "batch=2", "--json")
    assert completed.returncode == 0, completed.stderr
    report = json.loads(completed.stdout)
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
        (relu().SerializeToString(), ("--bind", "x=/nonexistent.npy"), 1),
        (relu().SerializeToString()[:-9], (), 1),
    ],
)
def test_command_line_refuses_without_a_traceback(tmp_path, contents, args, status):
    (tmp_path / "m.onnx").write_bytes(contents)
    completed = cli(tmp_path / "m.onnx", tmp_path / "m.bin", *args)
    assert completed.returncode == status, completed.stderr
    assert completed.stderr.startswith("converter: ") and "Traceback" not in completed.stderr


def test_what_is_no_model_or_no_place_for_one_is_named(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(relu().SerializeToString())
    assert main(["m.onnx"]) == 0
    for words, message in (
        (["m.bin"], "m.bin is converted already: mpconnxr run, flash and inspect take it"),
        (["report", "m.bin"], "m.bin is converted already"),
        (["."], ". is a directory"),
        (["report", "."], ". is a directory"),
        (["tensor", "."], ". is a directory"),
        (["sign", "."], ". is a directory"),
        (["m.onnx", "nodir/o.bin"], "nodir/o.bin: folder nodir is missing: create it first"),
        (["m.onnx", "--save-optimized", "no/o.onnx"], "no/o.onnx: folder no is missing"),
        (["report", "m.onnx", "-o", "nodir/o.html"], "nodir/o.html: folder nodir is missing"),
        (["tensor", "m.npy", "nodir/o.bin"], "nodir/o.bin: folder nodir is missing"),
    ):
        capsys.readouterr()
        assert main(words) == 1
        assert capsys.readouterr().err.startswith(f"converter: {message}")


@pytest.mark.parametrize("words", [["quantize", "--test", "t.npz:x,y"], ["--golden", "x.npy"]])
def test_an_option_that_took_the_model_is_named(words, capsys):
    with pytest.raises(SystemExit):
        main([*words, "m.onnx", "m.bin"])
    option = next(word for word in words if word.startswith("--"))
    hint = f"({option} takes all words that follow it: put it behind model)"
    assert (
        f"error: the following arguments are required: model {hint}\n" in capsys.readouterr().err
    )


def test_a_missing_file_is_one_line(tmp_path):
    for words in (
        (tmp_path / "none.onnx", tmp_path / "m.bin"),
        ("inspect", tmp_path / "none.onnx"),
        ("tensor", tmp_path / "none.onnx", tmp_path / "m.bin"),
    ):
        completed = cli(*words)
        assert completed.returncode == 1
        assert (
            completed.stderr == f"converter: {tmp_path / 'none.onnx'}: No such file or directory\n"
        )
