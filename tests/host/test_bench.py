"""The benchmark's C computes what the model computes, and its counts repeat."""

import json
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import onnx
import pytest
from onnx import helper

from benchmarks import every_model, limits, page
from benchmarks.c import build as c_build
from benchmarks.c import code as c_code
from benchmarks.c import paired
from benchmarks.cycles import counts_in
from benchmarks.nodes_visited import Ensemble
from tests.host.device import small
from tools.bench.__main__ import main
from tools.bench.measure import collection
from tools.converter.convert import Options, convert
from tools.converter.load import prepare
from tools.converter.quantize.post_training import quantize
from tools.converter.quantize.settings import Settings
from tools.converter.reference.ort_session import open_session
from tools.converter.simplify import simplify
from tools.micropython import TargetError

C_TARGETS = [name for name in c_build.TARGETS if name != "unix"]


def _net():
    """Return Conv with pads and strides, Relu, MaxPool, a residual Add, Gemm, Softmax."""
    rng = np.random.default_rng(7)
    constants = {
        "w": rng.normal(size=(4, 2, 3, 3)) / 3,
        "b": rng.normal(size=4),
        "v": rng.normal(size=(4, 1, 3, 3)) / 2,
        "g": rng.normal(size=(5, 16)) / 4,
        "h": rng.normal(size=5),
    }
    nodes = [
        ("Conv", "x w b", "c", {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ("Relu", "c", "r", {}),
        ("Conv", "r v", "d", {"group": 4, "pads": [1, 1, 1, 1]}),
        ("Add", "d r", "s", {}),
        ("MaxPool", "s", "m", {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("Flatten", "m", "f", {}),
        ("Gemm", "f g h", "l", {"transB": 1}),
        ("Softmax", "l", "y", {}),
    ]
    arrays = {name: value.astype(np.float32) for name, value in constants.items()}
    return small.model(
        nodes, [small.value("x", (1, 2, 8, 8))], [small.value("y", (1, 5))], **arrays
    )


def _quantized():
    samples = [{"x": x[None]} for x in np.random.default_rng(8).normal(size=(16, 2, 8, 8))]
    samples = [{"x": s["x"].astype(np.float32)} for s in samples]
    return quantize(simplify(prepare(_net())), Settings(samples=samples))[0]


@pytest.mark.parametrize("target", C_TARGETS)
@pytest.mark.parametrize("same", [(), ("int8", "float")], ids=["plain", "same"])
@pytest.mark.parametrize("kind", ["float", "int8"])
def test_generated_c_computes_the_model(kind, same, target, ready_target, tmp_path):
    ready_target(target)
    model = _net() if kind == "float" else _quantized()
    onnx.save(model, tmp_path / "m.onnx")
    source = c_code.generate(tmp_path / "m.onnx", same=same)
    assert ("same_" in source.text) == bool(same)
    counted = c_build.count(source.text, target, "-O3")
    expected = open_session(model).run(None, {"x": source.sample})[0].ravel()
    seen = np.frombuffer(counted.output, np.float32)
    assert np.abs(seen - expected).max() <= (1e-6 if kind == "float" else 0.01)
    assert expected.max() > 0.2
    assert counted.instructions == c_build.count(source.text, target, "-O3").instructions > 5_000


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_generated_c_pads_correctly(dtype, ready_target, tmp_path):
    """The Pad stands before a Transpose: no convolution can absorb it."""
    ready_target("mps2-an385")
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = [("Pad", "x pads value", "p", {}), ("Transpose", "p", "y", {"perm": [2, 1, 0]})]
    constants = {"pads": np.array([0, 1, 2, 0, 0, 1]), "value": np.array(-3, dtype)}
    infos = [small.value("x", (2, 3, 4), kind)], [small.value("y", (7, 4, 2), kind)]
    model = small.model(nodes, *infos, **constants)
    onnx.save(model, tmp_path / "m.onnx")
    source = c_code.generate(tmp_path / "m.onnx")
    expected = open_session(model).run(None, {"x": source.sample})[0]
    assert c_build.count(source.text, "mps2-an385", "-O3").output == expected.tobytes()


@pytest.mark.slow
def test_rows_have_all_figures(ready_target, tmp_path, capsys):
    ready_target("mps2-an385")
    path = tmp_path / "m.onnx"
    onnx.save(_net(), path)
    rows = []
    for form in ("viper", "plain"):
        assert main([str(path), "--form", form, "--json", "--target", "mps2-an385"]) == 0
        rows += json.loads(capsys.readouterr().out)
    assert [row["form"] for row in rows] == ["viper", "plain"]
    assert rows[0]["instructions"] < rows[1]["instructions"]
    assert rows[0]["c_o3_instructions"] == rows[1]["c_o3_instructions"] > 0
    assert 0 < rows[0]["c_same_o3_instructions"] < rows[0]["c_o3_instructions"]
    kernels = rows[0]["kernels"].values()
    assert sum(k["macs"] for k in kernels) == rows[0]["macs"]
    assert 0.9 < sum(k["instructions"] for k in kernels) / rows[0]["instructions"] < 1.1
    assert 0.5 < rows[0]["in_loops_instructions"] / rows[0]["instructions"] < 1
    assert rows[1]["in_loops_instructions"] is None  # plain loops are the interpreter's
    assert rows[0]["arena_bytes"] > 0 and rows[0]["macs"] == 4 * 16 * 18 + 4 * 16 * 9 + 80


def test_a_paired_run_alternates_with_c(tmp_path, ready_target):
    """The measured times do not matter."""
    ready_target("unix")
    onnx.save(_quantized(), tmp_path / "m.onnx")
    converted = convert(tmp_path / "m.onnx", Options(strip=True))
    text = c_code.generate(tmp_path / "m.onnx").text
    taken = paired.measure(converted, text)
    assert taken.ours > 0 and taken.c > 0 and taken.ratio > 0
    with pytest.raises(TargetError, match="not a valid model"):
        paired.measure(replace(converted, data=b"no model.bin"), text)


def test_an_unknown_target_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["m.onnx", "--target", "virt-rv32:fast"])
    assert "no target virt-rv32:fast: there are " in capsys.readouterr().err


def test_a_missing_model_is_named_once(capsys):
    assert main(["none.onnx"]) == 1
    streams = capsys.readouterr()
    assert streams.err == "bench: none.onnx: No such file or directory\n"
    assert not streams.out  # no table without rows


def test_an_operator_without_c_is_reported(tmp_path, capsys, ready_target):
    ready_target("mps2-an385")
    model = small.model([("Cos", "x", "y", {})], [small.value("x", [4])], [small.value("y", [4])])
    path = tmp_path / "m.onnx"
    onnx.save(model, path)
    assert main([str(path)]) == 0
    assert "Cos cannot be translated to C here" in capsys.readouterr().err


def test_the_page_has_a_row_and_two_bars_for_each_model(tmp_path):
    rows = [
        {
            "model": f"zoo/{name}/model.onnx",
            "target": target,
            "macs": 1000,
            "instructions": 3500,
            "c_o2_instructions": 9000,
            "c_o3_instructions": None if name == "b" else 7000,
            "c_same_o3_instructions": 5000,
            "in_loops_instructions": 3430,
            "arena_bytes": 2048,
            "heap_growth_bytes": 0,
            "kernels": {"qconv": {"instructions": 3000, "macs": 1000}},
        }
        for target in ("mps2-an385", "virt-rv32")
        for name in "ab"
    ]
    on_host = {"target": "unix", "in_loops_instructions": None, "c_o3_time_ratio": 1.456}
    rows += [rows[0] | on_host | {"kernels": {}}]
    page.write(rows, tmp_path, "make it")
    text = (tmp_path / "benchmarks.md").read_text()
    assert "| a | 1,000 | 3.50 | 9.00 | 7.00 | 5.00 | 2.0% | 2,048 | 0 |" in text
    assert "| b | 1,000 | 3.50 | 9.00 | – | 5.00 | 2.0% | 2,048 | 0 |" in text
    assert "| a | 1,000 | 3.50 | 9.00 | 7.00 | 5.00 | 1.46 | 2,048 | 0 |" in text
    assert text.count("## RISC-V") == 1
    assert counts_in(text.replace("| b |", "| b_int8 |"))["virt-rv32"]["float32"] == (3.5, 3.5)
    assert text.count("| outside of loops |") == 2 and text.count("| time / C -O3 |") == 1
    assert text.count("| qconv | 100.0% | 3.00 |") == 2
    assert text.index("Cortex-M3 (`mps2-an385`)") < text.index("RISC-V")
    drawn = ElementTree.fromstring((tmp_path / "benchmarks.svg").read_text())
    bars = [r for r in drawn.iter() if r.tag.endswith("rect") and float(r.get("x")) >= 250]
    widths = [float(r.get("width")) for r in bars if float(r.get("y")) > 20]
    assert widths == [230.0, 460.0]


def test_every_model_has_a_row_the_worst_first(tmp_path):
    targets = ["mps2-an385-v6m", "mps2-an385"]
    rows = [_row("a", targets, 1000), _row("b", targets, 10), every_model.Row("c", "Integers")]
    rows[1].garbage, rows[1].python, rows[2].why = {"x": 64}, 0.25, "a reason"
    text = every_model.page(rows, targets, "make it")
    lines = [line for line in text.splitlines() if line[:4] in ("| a ", "| b ", "| c ")]
    assert [line[2] for line in lines] == ["b", "a", "c"]
    assert lines[0].endswith("| 3,000 | 4,500 | 300.00 | 450.00 | 25% | 64 |")
    assert lines[1].startswith(
        "| a | program | 1,000 | 3 | 3,000 | 4,500 | 3.00 | 4.50 | 3,000 | "
    )
    assert "* c: a reason\n" in text


def _row(name, targets, macs):
    counts, cycles, loops = (dict.fromkeys(targets, n) for n in (3000, 4500, 2000))
    known = {"counts": counts, "cycles": cycles, "loops": loops}
    return every_model.Row(name, "Floats", macs, 3, 20, **known)


def test_models_over_the_limits_are_marked():
    """Limits: 12 times mnist_8, 1,000 a step outside of loops, 120 an element in loops."""
    targets = ["mps2-an386"]
    reference = _row("mnist_8", targets, 100_000)
    models = [reference, _row("fine", targets, 100_000), _row("small", targets, 10)]
    assert list(limits.broken(models, targets)) == []
    models[1].loops = {"mps2-an386": 40_000}
    [line] = limits.broken(models, targets)
    assert line == "fine, mps2-an386: 0.4 instructions a MAC, above 0.4"
    models[1].loops, models[1].python = {"mps2-an386": 0}, 0.5
    models[1].counts = {"mps2-an386": 36_001}
    assert len(list(limits.broken(models, targets))) == 1
    models[2].loops, models[2].counts = {"mps2-an386": 2_401}, {"mps2-an386": 5_402}
    message = list(limits.broken(models[2:], targets))
    assert message == [
        "small, mps2-an386: 1,000 instructions a step outside of loops",
        "small, mps2-an386: 120 instructions an element in loops",
    ]


def test_visited_nodes_of_trees_are_counted():
    """One tree is a stump, the other a chain with leaves at depths 2, 3 and 3."""
    trees = helper.make_node(
        "TreeEnsembleRegressor",
        ["x"],
        ["y"],
        domain="ai.onnx.ml",
        nodes_treeids=[0, 1, 1, 1, 1, 1],
        nodes_nodeids=[0, 0, 1, 2, 3, 4],
        nodes_modes=["LEAF", "BRANCH_LEQ", "LEAF", "BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_featureids=[0, 0, 0, 1, 0, 0],
        nodes_values=[0.0, 0.5, 0.0, 0.5, 0.0, 0.0],
        nodes_truenodeids=[0, 1, 0, 3, 0, 0],
        nodes_falsenodeids=[0, 2, 0, 4, 0, 0],
    )
    counted = Ensemble(trees)
    x = np.array([[0.5, 9], [0.75, 0]], np.float32)
    assert [counted.visited(row[None]) for row in x] == [1 + 2, 1 + 3]
    assert counted.visited(x) == 7 and counted.visited(None) == pytest.approx(1 + 8 / 3)


@pytest.mark.skipif(not collection().is_dir(), reason="no model collection")
def test_a_model_of_the_collection_is_counted(ready_target):
    ready_target("mps2-an385")
    row = every_model.measured("digits_cnn_qdq_s8", ["mps2-an385"])
    assert (row.kind, row.macs, row.python, row.why) == ("Integers", 87_360, 0.0, "")
    assert 2 < row.each("mps2-an385") < 10 and row.deployed_as == "program"
    assert row.garbage["mps2-an385"] < 100  # a program's frame
    assert row.counts["mps2-an385"] < row.cycles["mps2-an385"] < 2 * row.counts["mps2-an385"]
    assert 0.5 < row.loops["mps2-an385"] / row.counts["mps2-an385"] < 1
    assert row.elements > row.macs


@pytest.mark.skipif(not collection().is_dir(), reason="no model collection")
def test_a_model_that_fails_does_not_end_the_count(capsys, tmp_path, ready_target):
    """A second call reads the counts of the first one from the file."""
    ready_target("mps2-an386")
    known = tmp_path / "known"
    names = ["none_of_this_name", "tflm_hello_world_int8"]
    requests = [*names, "--target", "mps2-an386", "--resume", str(known)]
    assert every_model.main(requests) == 1
    first = capsys.readouterr().out
    assert "none_of_this_name: 0 MACs, " in first and "2 models in" in first
    [line] = known.read_text().splitlines()
    known.write_text(line.replace('"macs": 288', '"macs": 289') + "\n")
    assert every_model.main(requests[1:]) == 0
    assert "tflm_hello_world_int8: 289 MACs" in capsys.readouterr().out
