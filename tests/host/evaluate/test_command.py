"""The command `mpconnxr evaluate`: on targets, on a board, beside the float model."""

import json

import numpy as np
import onnx
import pytest

from tests.host.converter.quantize.net import CLASSES, calibration, net, outputs
from tests.host.device import small
from tests.host.fake_board import FakeBoard
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.evaluate.__main__ import main

N = 12


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a float model, two quantized ones, and data of which float knows 10."""
    onnx.save(net(), tmp_path / "net.onnx")
    for io in ("float", "int8"):
        settings = Settings(samples=calibration(), io=io)
        names = [f"class {i}" for i in range(CLASSES)]
        options = Options(quantize=settings, class_names=names)
        (tmp_path / f"{io}.bin").write_bytes(convert(net(), options).data)
    (tmp_path / "plain.bin").write_bytes(convert(net()).data)
    test = calibration(N, seed=7)
    y = outputs(net(), test).reshape(N, -1).argmax(axis=1)
    y[:2] = (y[:2] + 1) % CLASSES
    x = np.concatenate([s["x"] for s in test])
    names = np.array([f"class {i}" for i in y])
    np.savez(
        tmp_path / "test.npz",
        x=x,
        names=names,
        y=y,
        wrong=y + CLASSES,
        few=y[:5],
        text=x.astype(str),
    )
    return tmp_path


def evaluated(capsys, *args):
    assert main([*map(str, args), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_float_and_quantized_model_stand_side_by_side(folder, capsys):
    args = folder / "float.bin", "--data", f"{folder}/test.npz:x,y"
    report = evaluated(capsys, *args, "--float", folder / "net.onnx", "--target", "cpython")
    assert report["runs"]["float"]["accuracy"] == pytest.approx(10 / N)
    assert report["runs"]["cpython"]["per_class"][2]["label"] == "class 2"
    [same] = report["same_class"]
    assert same["run"] == "cpython" and same["share"] > 0.8
    assert main([*map(str, args), "--float", str(folder / "net.onnx"), "--target", "cpython"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("float    top-1 83.3% of 12 samples\ncpython  top-1 ")
    assert "cpython: the same class as float for " in text and "worst sample" in text


def test_floats_are_quantized_for_a_model_of_integers(folder, capsys):
    data = "--data", f"{folder}/test.npz:x,y", "--target", "cpython"
    of_floats, of_bytes = (
        evaluated(capsys, folder / f"{io}.bin", *data)["runs"]["cpython"]
        for io in ("float", "int8")
    )
    assert of_floats["confusion"] == of_bytes["confusion"]


def test_a_board_gives_the_answers_of_this_computer(folder, ready_target, tmp_path, capsys):
    files = tmp_path / "board"
    files.mkdir()
    with FakeBoard(ready_target("unix32").build(), files) as board:
        args = folder / "float.bin", "--data", f"{folder}/test.npz:x,y", "--port", board.port
        report = evaluated(capsys, *args, "--target", "unix")
        assert not board.files()
    assert report["runs"]["board"] == report["runs"]["unix"]
    assert report["same_class"] == [{"run": "board", "as": "unix", "share": 1.0}]
    assert report["seconds"] >= 0


def test_values_of_a_model_are_evaluated(tmp_path, capsys):
    nodes = [("Gemm", "x w", "y", {})]
    w = np.array([[2.0], [1.0]], np.float32)
    model = small.model(nodes, [small.value("x", [1, 2])], [small.value("y", [1, 1])], w=w)
    (tmp_path / "m.bin").write_bytes(convert(model).data)
    x = np.arange(8, dtype=np.float32).reshape(4, 2)
    np.savez(tmp_path / "a.npz", x=x, y=(x @ w)[:, 0] + [0, 0, 0, 1])
    data = f"{tmp_path}/a.npz"
    result = evaluated(capsys, tmp_path / "m.bin", "--data", data, "--target", "cpython")
    assert result["runs"]["cpython"]["mean_absolute_error"] == 0.25
    assert result["runs"]["cpython"]["worst"][0]["index"] == 3


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        ("float.bin", ["test.npz:x,wrong"], "the model has the classes 0 to 3"),
        ("plain.bin", ["test.npz:x,names"], "by --labels-file NAMES.txt"),
        ("float.bin", ["test.npz:x,few"], "12 samples, but 5 true values"),
        ("float.bin", ["test.npz:text,y"], "but input x takes float32"),
        ("float.bin", ["test.npz:y,y"], "input x takes float32"),
        ("float.bin", ["test.npz:x,none"], "it lacks the array none"),
        ("float.bin", ["net.onnx"], "is not a .npy or .npz file"),
        ("net.onnx", ["test.npz:x,y"], "is an .onnx: convert it first"),
        ("test.npz", ["test.npz:x,y"], ""),
    ],
)
def test_what_does_not_fit_is_one_line(folder, capsys, model, data, message):
    texts = [f"{folder}/{one}" for one in data]
    assert main([str(folder / model), "--data", *texts, "--target", "cpython"]) in (1, 2)
    streams = capsys.readouterr()
    assert message in streams.err and streams.err.count("\n") == 1 and not streams.out
