"""float64 becomes float32: all dtypes of a model, and exact thresholds of trees."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tools.converter.__main__ import main
from tools.converter.convert import Options, convert
from tools.converter.load import single
from tools.run import __main__ as run_main

D, F = TensorProto.DOUBLE, TensorProto.FLOAT
VALUE = helper.make_tensor_value_info


def model(nodes, shape=(1, 3), out=(1, 3), constants=()):
    graph = helper.make_graph(
        nodes,
        "g",
        [VALUE("x", D, shape)],
        [VALUE("y", D, out)],
        [numpy_helper.from_array(np.asarray(a, np.float64), n) for n, a in constants],
    )
    opsets = [helper.make_opsetid("", 20), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets)


def affine():
    nodes = [
        helper.make_node("Mul", ["x", "w"], ["a"]),
        helper.make_node("Cast", ["a"], ["i"], to=TensorProto.INT32),
        helper.make_node("Cast", ["i"], ["b"], to=D),
        helper.make_node("Add", ["a", "b"], ["y"]),
    ]
    return model(nodes, constants=[("w", [0.1, 1e300, 3])])


def test_no_float64_is_left():
    made = affine()
    assert single.has_doubles(made)
    single.make_single(made)
    assert not single.has_doubles(made)
    onnx.checker.check_model(made, full_check=True)
    (w,) = made.graph.initializer
    assert numpy_helper.to_array(w).tolist() == [np.float32(0.1), np.finfo(np.float32).max, 3]


def test_bodies_become_float32_too():
    body = helper.make_graph(
        [helper.make_node("Mul", ["x", "c"], ["r"])],
        "b",
        [],
        [VALUE("r", D, [1, 3])],
        [numpy_helper.from_array(np.array([2.0]), "c")],
    )
    nodes = [
        helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
        helper.make_node("Cast", ["s"], ["p"], to=TensorProto.BOOL),
        helper.make_node("If", ["p"], ["y"], then_branch=body, else_branch=body),
    ]
    made = model(nodes)
    single.make_single(made)
    assert not single.has_doubles(made)


@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"])
def test_a_threshold_splits_float32s_as_before(mode):
    rng = np.random.default_rng(0)
    compare = {
        "BRANCH_LEQ": np.less_equal,
        "BRANCH_LT": np.less,
        "BRANCH_GTE": np.greater_equal,
        "BRANCH_GT": np.greater,
    }[mode]
    cuts = np.concatenate([rng.standard_normal(200), [0.0, 0.1, -0.1, 1e-45, 2.0, 1e39]])
    node = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        nodes_modes=[mode] * len(cuts),
        nodes_values_as_tensor=helper.make_tensor("v", D, [len(cuts)], cuts),
    )
    made = helper.make_model(helper.make_graph([node], "g", [], []))
    single.make_single(made)
    (result,) = (a.t for a in made.graph.node[0].attribute if a.name == "nodes_values_as_tensor")
    for cut, got in zip(cuts, numpy_helper.to_array(result), strict=True):
        assert got.dtype == np.float32
        near = np.float32(min(cut, 3e38))
        around = [near]
        for limit in (np.inf, -np.inf):
            around += [np.nextafter(near, np.float32(limit)), np.float32(near + np.sign(limit))]
        for x in around:
            assert compare(np.float64(x), cut) == compare(x, got), (cut, got, x)


def test_the_command_line_converts_to_float32_with_a_note(tmp_path, capfd):
    path, made = tmp_path / "m.onnx", affine()
    made.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array([0.1, 1.0, 3.0]), "w"))
    onnx.save(made, path)
    assert main([str(path)]) == 0
    out = capfd.readouterr().out
    assert "note: float64 becomes float32 (--float64 keep leaves it): outputs differ by " in out
    assert "input    x float32 [1, 3]" in out and "no test vector" not in out
    assert main([str(path), "--float64", "keep"]) == 0
    assert "input    x float64 [1, 3]" in capfd.readouterr().out


def test_from_python_float64_stays_by_default():
    made = affine()
    assert convert(made).graph.inputs[0].np_dtype == np.float64
    converted = convert(made, Options(float64="float32", golden=[np.ones((1, 3))]))
    assert {t.np_dtype for t in converted.graph.inputs + converted.graph.outputs} == {
        np.dtype(np.float32)
    }


def test_a_float64_input_is_run_and_compared(tmp_path, ready_target, capsys):
    ready_target("unix32")
    path, x = tmp_path / "m.onnx", tmp_path / "x.npy"
    made = affine()
    made.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.array([0.1, 1.0, 3.0]), "w"))
    onnx.save(made, path)
    np.save(x, np.array([[1.0, 2.5, -7.25]]))
    options = ["--target", "unix32", "--compare", str(path), "--json"]
    assert run_main.main([str(path), str(x), *options]) == 0
    assert '"max_rel"' in capsys.readouterr().out
