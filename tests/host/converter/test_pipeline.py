"""The list of passes, and the model after one of them: --passes and --save-after."""

import json

import numpy as np
import onnx
import pytest

from tests.host.device import small
from tools.converter import external_weights, pipeline
from tools.converter.__main__ import main
from tools.converter.convert import Options, model_after
from tools.converter.errors import UsageError
from tools.converter.reference import golden

DIGITS = small.ROOT / "examples" / "digits" / "digits.onnx"
PHASES = ["import", "normalize", "quantize", "optimize", "lower", "plan", "emit"]


def operators(model):
    return [node.op_type for node in model.graph.node]


def after(name, **options):
    return operators(model_after(DIGITS, name, Options(**options)))


def test_phases_stand_in_order_and_names_are_unique():
    assert list(dict.fromkeys(one.phase for one in pipeline.PASSES)) == PHASES
    names = [name for one in pipeline.PASSES for name in pipeline._names_of(one)]
    assert len(set(names)) == len(names)


def test_passes_are_listed_without_a_model(capsys):
    with pytest.raises(SystemExit) as e:
        main(["--passes"])
    assert e.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    names = [name for one in pipeline.PASSES for name in pipeline._names_of(one)]
    assert [line.removeprefix(line[:11]).split()[0] for line in lines[: len(names)]] == names
    (line,) = (line for line in lines if line.lstrip().startswith("residuals "))
    assert "Merge Add into the convolution before it" in line
    assert line.endswith("[--optimize 2]")


def test_every_pass_says_what_it_does():
    for one in pipeline.PASSES:
        for _, summary, _ in pipeline._rows_of(one):
            assert summary.endswith(".") and summary.split()[0][0].isupper()


def test_the_model_after_a_pass_is_written(tmp_path, capsys):
    path = tmp_path / "m.onnx"
    assert main([str(DIGITS), "--save-after", "simplify", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"file": str(path), "bytes": path.stat().st_size}
    saved = onnx.load(path)
    onnx.checker.check_model(saved)
    assert operators(saved) == after("simplify")
    assert [p.name for p in tmp_path.iterdir()] == ["m.onnx"]


def test_a_group_ends_where_nothing_changes_and_a_member_in_its_first_round():
    assert "Relu" in after("gemms") and "FusedConv" in after("activations")
    assert after("rewrite").count("FusedConv") >= after("activations").count("FusedConv")
    assert "FusedConv" not in after("rewrite", optimize=1)


@pytest.mark.parametrize("name", ["load", "simplify", "rewrite", "choose_precision"])
def test_the_model_computes_the_same_after_each_pass(name):
    x = [np.random.default_rng(0).random((1, 1, 8, 8), np.float32)]
    [expected] = golden.reference(onnx.load(DIGITS), x)
    [got] = golden.reference(model_after(DIGITS, name, Options()), x)
    np.testing.assert_allclose(got, expected, 1e-4, 1e-5)


def test_large_constants_are_in_the_saved_model(monkeypatch):
    monkeypatch.setattr(external_weights, "LEAST_MODEL", 1)
    monkeypatch.setattr(external_weights, "LEAST", 64)
    model = model_after(DIGITS, "rewrite", Options())
    assert all(t.raw_data and not t.external_data for t in model.graph.initializer)


@pytest.mark.parametrize(
    "name, options, error",
    [
        ("rewrites", {}, "there is no such pass; choose of load, simplify, .*activations"),
        ("plan_arena", {}, "after pass lower there is no ONNX model any more"),
        ("lower", {}, "after pass lower there is no ONNX model any more"),
        ("quantize", {}, "this pass runs with --quantize only"),
        ("residuals", {"optimize": 1}, "this pass runs with --optimize 2 only"),
        ("rewrite", {"optimize": 0}, "this pass runs with --optimize 1, 2 only"),
    ],
)
def test_what_is_refused(name, options, error):
    with pytest.raises(UsageError, match=f"--save-after {name}: {error}"):
        model_after(DIGITS, name, Options(**options))


@pytest.mark.parametrize(
    "options, named",
    [
        (["m.bin"], "a .bin"),
        (["--save-optimized", "m.onnx"], "--save-optimized"),
        (["--sbom", "m.json"], "--sbom"),
    ],
)
def test_nothing_else_is_written(options, named, tmp_path, capsys):
    assert main([str(DIGITS), *options, "--save-after", "load", str(tmp_path / "m.onnx")]) == 2
    assert f"--save-after writes nothing else: leave out {named}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_model_itself_is_not_written_over(capsys):
    assert main([str(DIGITS), "--save-after", "load", str(DIGITS)]) == 2
    assert "would be written over" in capsys.readouterr().err
