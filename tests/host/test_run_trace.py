"""python -m tools.run --trace compares what each step computes with onnxruntime's values."""

import json

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.host.device import small
from tests.host.fake_board import FakeBoard
from tools.converter.convert import Options, convert
from tools.run.__main__ import main

DIGITS = small.ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture(autouse=True)
def _built(target):
    """Skip the tests if `unix` cannot be built."""


@pytest.fixture
def other(tmp_path):
    """Return the digits network with another bias in its second convolution."""
    model = onnx.load(DIGITS)
    conv = [n for n in model.graph.node if n.op_type == "Conv"][1]
    for tensor in model.graph.initializer:
        if tensor.name == conv.input[2]:
            moved = numpy_helper.to_array(tensor) + np.float32(0.1)
            tensor.CopyFrom(numpy_helper.from_array(moved, tensor.name))
    path = tmp_path / "other.onnx"
    onnx.save(model, path)
    return path


def traced(capsys, *args):
    assert main([*map(str, args), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_no_step_of_a_correct_model_deviates(capsys):
    report = traced(capsys, DIGITS, "--trace", 2, "--compare")
    assert report["deviates"] is None
    errors = [o["error"] for s in report["steps"] for o in s["outputs"] if "error" in o]
    assert len(errors) >= 3 and max(errors) < 1e-5
    assert main([str(DIGITS), "--trace", "0", "--compare"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("no step deviates from onnxruntime by more than 0.0001 (")


def test_the_first_deviating_step_is_named(other, capsys):
    report = traced(capsys, other, "--trace", 1, "--compare", DIGITS)
    second = [s for s in report["steps"] if s["kernel"] == "conv_max_pool"][1]
    assert report["deviates"]["step"] == second["step"] == "1"
    assert report["deviates"]["error"] > 1e-3
    assert main([str(other), "--trace", "1", "--compare", str(DIGITS)]) == 0
    assert "first that deviates from onnxruntime: step 1 " in capsys.readouterr().out


def quantizing(path, bias, scale=0.5):
    nodes = [
        ("Add", "x b", "a", {}),
        ("QuantizeLinear", "a scale zero", "q", {}),
        ("DequantizeLinear", "q scale zero", "y", {}),
    ]
    constants = {"b": np.float32([bias]), "scale": np.float32(scale), "zero": np.uint8(100)}
    interface = [small.value("x", (1, 3))], [small.value("y", (1, 3))]
    onnx.save(small.model(nodes, *interface, **constants), path)
    return path


def test_values_may_deviate_by_the_promised_error(tmp_path, capsys):
    """An integer that is rounded to the next one is off by more than 0.0001, and right."""
    np.save(x := tmp_path / "x.npy", np.float32([[4, 2.1, -3.2]]))  # 4.25 is between two integers
    lower, upper = (quantizing(tmp_path / f"{b}.onnx", 0.25 + b) for b in (-1e-6, 1e-6))
    report = traced(capsys, lower, x, "--trace", 2, "--compare", upper)
    errors = {o["name"]: o.get("error") for s in report["steps"] for o in s["outputs"]}
    assert errors["y"] == pytest.approx(0.5 / 4.5)
    assert report["deviates"] is None
    assert main([str(lower), str(x), "--trace", "0", "--compare", str(upper)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("no step deviates from onnxruntime by more than 0.0001 or what quan")
    other = quantizing(tmp_path / "other.onnx", 1.25)
    report = traced(capsys, lower, x, "--trace", 2, "--compare", other)
    assert report["deviates"]["value"] == "a"


def test_each_level_has_its_lines(capsys):
    results = []
    for level in range(4):
        assert main([str(DIGITS), "--trace", str(level)]) == 0
        results.append(capsys.readouterr().out.splitlines())
    none, one, two, three = results
    assert not none and all(line.split("   error")[0].endswith(" us") for line in one)
    assert len(two) == len(three) == len(one) + 4
    assert len(two[-1].split("mean ")[1].split()) == 1
    assert len(three[-1].split("mean ")[1].split()) == 9


def test_tensors_are_dumped(tmp_path, capsys):
    folder = tmp_path / "out"
    assert main([str(DIGITS), "--trace", "0", "--dump", str(folder), "--compare"]) == 0
    names = {path.name for path in folder.iterdir()}
    assert {"0_0.npy", "0_0.expected.npy", "3_0.npy", "3_0.expected.npy"} <= names
    got, right = (np.load(folder / f"3_0{kind}.npy") for kind in ("", ".expected"))
    assert got.shape == (1, 10) and np.abs(got - right).max() < 1e-4


def test_a_board_is_traced(ready_target, tmp_path, capsys):
    folder = tmp_path / "board"
    folder.mkdir()
    with FakeBoard(ready_target("unix32").build(), folder) as board:
        report = traced(capsys, DIGITS, "--trace", 2, "--compare", "--target", board.port)
        assert report["deviates"] is None and not board.files()


def test_a_bin_has_no_values_to_compare(tmp_path, capsys):
    path = tmp_path / "model.bin"
    path.write_bytes(convert(DIGITS, Options()).data)
    assert main([str(path), "--trace", "1"]) == 0
    capsys.readouterr()
    assert main([str(path), "--trace", "1", "--compare", str(DIGITS)]) == 2
    assert "--trace --compare need the .onnx" in capsys.readouterr().err


@pytest.mark.parametrize(
    "argv",
    [
        ("--trace", "4"),
        ("--dump", "x"),
        ("--trace", "1", "--profile"),
        ("--trace", "1", "--random", "3"),
        ("--trace", "1", "--compare", "--layers"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_refused(argv, capsys):
    with pytest.raises(SystemExit) as e:
        main([str(DIGITS), *argv])
    assert e.value.code == 2
