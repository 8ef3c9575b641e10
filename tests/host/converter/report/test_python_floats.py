"""The report says which steps compute with Python's floats, and their part of the work."""

import json

import onnx
import pytest

from tests.host.converter.numbers import wide_models
from tests.host.device import small
from tools.converter.__main__ import main
from tools.converter.convert import Options, convert
from tools.converter.report import page, python_floats


@pytest.fixture(scope="module")
def encoder():
    return wide_models.autoencoder()


def test_products_in_blocks_are_not_listed(encoder):
    result = python_floats.of(convert(encoder))
    assert not result.steps and result.share == 0 and not result.text and not result.warning


def test_products_in_floats_are_most_of_the_work(encoder):
    converted = convert(encoder, Options(float="python"))
    result = python_floats.of(converted)
    kernels = [step.kernel for step in converted.graph.steps]
    assert [s.step for s in result.steps] == [i for i, k in enumerate(kernels) if k != "relu"]
    assert 0.99 < result.share <= 1.001
    assert (
        "100.0% of a run's estimated work: step" in result.warning and "7 more" in result.warning
    )


def test_a_small_part_gives_no_warning():
    """The model is Asinh of few elements beside products in blocks."""
    x, w = small.floats(64, 64), small.floats(64, 64)
    nodes = [
        ("MatMul", "x w", "p", {}),
        ("ReduceMax", "p", "m", {"axes": [0], "keepdims": 0}),
        ("ReduceMax", "m", "n", {"axes": [0]}),
        ("Asinh", "n", "y", {}),
    ]
    outputs = [small.value("y", (1,))]
    converted = convert(small.model(nodes, [small.value("x", x.shape)], outputs, w=w))
    result = python_floats.of(converted)
    assert [step.kernel for step in result.steps] == ["unary"]
    assert 0 < result.share < python_floats.MOST and result.text and not result.warning


def test_operations_of_one_kernel_are_told_apart():
    """Sqrt has a loop on bits, Asinh has none."""
    nodes = [("Sqrt", "x", "a", {}), ("Asinh", "a", "y", {})]
    infos = [small.value("x", (40,))], [small.value("y", (40,))]
    result = python_floats.of(convert(small.model(nodes, *infos)))
    assert [(step.step, step.kernel) for step in result.steps] == [(1, "unary")]


def test_integers_in_plain_python_are_not_listed():
    infos = [small.value(n, (4, 4), onnx.TensorProto.INT32) for n in ("x", "y")]
    converted = convert(small.model([("MatMul", "x x", "y", {})], infos[:1], infos[1:]))
    assert [step.kernel for step in converted.graph.steps][-1] == "gemm"
    assert not python_floats.of(converted).steps


@pytest.mark.parametrize(("mode", "n"), [("exact", 0), ("python", 1)])
def test_steps_with_open_shapes_are_listed(mode, n):
    """Calls of such loops cannot be recorded."""
    nodes = [("MatMul", "x w", "y", {})]
    infos = [small.value("x", ("n", 4))], [small.value("y", ("n", 3))]
    model = small.model(nodes, *infos, w=small.floats(4, 3))
    converted = convert(model, Options(bounds={"n": 8}, float=mode))
    assert len(python_floats.of(converted).steps) == n


@pytest.mark.slow
def test_all_reports_list_float_steps(encoder, tmp_path, capsys):
    path = tmp_path / "m.onnx"
    onnx.save(encoder, path)
    args = [str(path), "--float", "python"]
    assert main([*args, "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    steps = about["python_floats"]["steps"]
    assert about["python_floats"]["share"] == pytest.approx(sum(s["share"] for s in steps))
    assert {"step", "kernel", "node", "share"} == set(steps[0])
    assert main(args) == 0
    [line] = [s for s in capsys.readouterr().out.splitlines() if s.startswith("warning: ")]
    assert line.removeprefix("warning: ") == about["warnings"][0]
    assert "<h2>Python&rsquo;s floats" in page(convert(path, Options(float="python")), "t")
    assert main([str(path), "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["python_floats"] == {"share": 0, "steps": []} and about["warnings"] == []
