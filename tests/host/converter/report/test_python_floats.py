"""Which steps compute with Python's floats, and what part of the work these are."""

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


def test_products_in_blocks_are_none(encoder):
    found = python_floats.of(convert(encoder))
    assert not found.steps and found.share == 0 and not found.text and not found.warning


def test_products_in_floats_are_nearly_all_of_the_work(encoder):
    done = convert(encoder, Options(float="python"))
    found = python_floats.of(done)
    kernels = [step.kernel for step in done.graph.steps]
    assert [s.step for s in found.steps] == [i for i, k in enumerate(kernels) if k != "relu"]
    assert 0.99 < found.share <= 1.001
    assert "100.0% of a run's estimated work: step" in found.warning and "7 more" in found.warning


def test_a_small_part_is_no_warning():
    """Asinh of few items, beside products in blocks."""
    x, w = small.floats(64, 64), small.floats(64, 64)
    nodes = [
        ("MatMul", "x w", "p", {}),
        ("ReduceMax", "p", "m", {"axes": [0], "keepdims": 0}),
        ("ReduceMax", "m", "n", {"axes": [0]}),
        ("Asinh", "n", "y", {}),
    ]
    outputs = [small.value("y", (1,))]
    done = convert(small.model(nodes, [small.value("x", x.shape)], outputs, w=w))
    found = python_floats.of(done)
    assert [step.kernel for step in found.steps] == ["unary"]
    assert 0 < found.share < python_floats.MOST and found.text and not found.warning


def test_only_one_of_a_kernel_s_operations():
    """Sqrt has a loop on bits, Asinh has none."""
    nodes = [("Sqrt", "x", "a", {}), ("Asinh", "a", "y", {})]
    infos = [small.value("x", (40,))], [small.value("y", (40,))]
    found = python_floats.of(convert(small.model(nodes, *infos)))
    assert [(step.step, step.kernel) for step in found.steps] == [(1, "unary")]


def test_integers_in_plain_python_are_no_floats():
    infos = [small.value(n, (4, 4), onnx.TensorProto.INT32) for n in ("x", "y")]
    done = convert(small.model([("MatMul", "x x", "y", {})], infos[:1], infos[1:]))
    assert [step.kernel for step in done.graph.steps][-1] == "gemm"
    assert not python_floats.of(done).steps


@pytest.mark.parametrize(("mode", "n"), [("exact", 0), ("python", 1)])
def test_shapes_that_a_run_decides(mode, n):
    """Calls of loops cannot be recorded then."""
    nodes = [("MatMul", "x w", "y", {})]
    infos = [small.value("x", ("n", 4))], [small.value("y", ("n", 3))]
    model = small.model(nodes, *infos, w=small.floats(4, 3))
    done = convert(model, Options(bounds={"n": 8}, float=mode))
    assert len(python_floats.of(done).steps) == n


def test_all_reports_have_them(encoder, tmp_path, capsys):
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
