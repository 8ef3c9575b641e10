"""`mpconnxr monitor` runs a model on a fake board."""

import json

import numpy as np
import onnx
import pytest
from rich.console import Console

from tests.host.device import small
from tests.host.fake_board import FakeBoard
from tests.host.sensing.sensors import RAMP, monitor_on
from tools.converter.convert import Options, convert
from tools.sensing import monitor
from tools.sensing.display import Picture, sparkline
from tools.sensing.inference import About, Inference


def linear(shape, weights):
    """Return Flatten, MatMul: (1, classes)."""
    n, classes = weights.shape
    nodes = [("Reshape", "x flat", "f", {}), ("MatMul", "f w", "y", {})]
    ends = [small.value("x", shape)], [small.value("y", (1, classes))]
    return small.model(nodes, *ends, w=weights.astype(np.float32), flat=np.array([1, n]))


@pytest.fixture
def board(ready_target, tmp_path):
    folder = tmp_path / "board"
    folder.mkdir()
    with FakeBoard(ready_target("unix32").build(), folder) as board:
        yield board


def deployed(board, tmp_path, model, labels=None):
    onnx.save(model, tmp_path / "model.onnx")
    options = Options(class_names=labels or ())
    (tmp_path / "model.bin").write_bytes(convert(tmp_path / "model.onnx", options).data)
    assert board.deploy(tmp_path / "model.bin") == 0


def answers(capsys):
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if line[0] == "{"]


@pytest.mark.parametrize("shape", [(1, 3, 2), (1, 6), (1, 3, 1, 2)])
def test_classes_are_printed_for_samples_in_turn(board, tmp_path, capsys, shape):
    """Input is the newest three samples of two channels, the oldest first."""
    deployed(board, tmp_path, linear(shape, np.eye(6)))
    capsys.readouterr()
    assert monitor_on(board.port, tmp_path, RAMP, "-n", 3, "--every", 2, "--json") == 0
    result = answers(capsys)
    expected = [[n, -n, n + 1, -n - 1, n + 2, -n - 2] for n in (0, 2, 4)]
    assert [a["outputs"][0] for a in result] == expected
    assert all(a["us"] >= 0 for a in result) and result[0]["ms"] <= result[2]["ms"]


def test_an_input_may_have_a_row_for_each_channel(board, tmp_path, capsys):
    deployed(board, tmp_path, linear((1, 2, 3), np.eye(6)))
    capsys.readouterr()
    assert monitor_on(board.port, tmp_path, RAMP, "-n", 1, "--json") == 0
    assert answers(capsys)[0]["outputs"] == [[0, 1, 2, 0, -1, -2]]


def test_blocks_are_classified_with_labels(board, tmp_path, capsys):
    weights = np.array([[1, 0], [0, 1], [0, 0], [0, 0]])
    deployed(board, tmp_path, linear((1, 4), weights), ("left", "right"))
    source = "from array import array\ndef samples():\n"
    source += "    yield array('h', [9, 3, 0, 0])\n    yield array('h', [2, 5, 0, 0])\n"
    capsys.readouterr()
    assert monitor_on(board.port, tmp_path, source) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[4:] for line in lines] == [["left", "9", "3"], ["right", "2", "5"]]


def test_samples_that_do_not_fill_the_input_are_refused(board, tmp_path, capsys):
    deployed(board, tmp_path, linear((1, 5), np.eye(5)))
    capsys.readouterr()
    assert monitor_on(board.port, tmp_path, RAMP, "-n", 1) == 1
    assert "samples of 2 numbers do not fill x (1, 5)" in capsys.readouterr().err


def test_a_board_without_a_model_is_refused(board, tmp_path, capsys):
    assert monitor_on(board.port, tmp_path, RAMP) == 1
    message = (
        "monitor: mpconnxr is not on the board: mpconnxr flash MODEL.bin deploys it with a model\n"
    )
    assert capsys.readouterr().err == message


def test_an_unknown_model_is_refused(board, tmp_path, capsys):
    deployed(board, tmp_path, linear((1, 6), np.eye(6)))
    capsys.readouterr()
    assert monitor_on(board.port, tmp_path, RAMP, "--model", "other.bin") == 1
    err = capsys.readouterr().err
    assert "other.bin on the board: mpconnxr flash MODEL.bin deploys one" in err
    assert "Traceback" not in err


def test_a_model_that_does_not_load_is_reported(board, tmp_path, capsys):
    deployed(board, tmp_path, linear((1, 6), np.eye(6)))
    (board.folder / "bad.bin").write_bytes(b"MPCONNXR" + bytes(100))
    capsys.readouterr()
    assert monitor_on(board.port, tmp_path, RAMP, "--model", "bad.bin") == 1
    err = capsys.readouterr().err
    assert "Error: " in err and "no model" not in err


def test_wrong_usage_is_refused(capsys):
    with pytest.raises(SystemExit) as e:
        monitor.main(["nowhere", "--pin", "26", "-n", "-1"])
    assert e.value.code == 2


def test_the_display_shows_samples_and_scores():
    about = About(("x", "float32", [1, 2]), [("y", "float32", [1, 2])], ("left", "right"))
    picture = Picture(about)
    console = Console(width=80, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    picture._live.console = console
    with picture:
        picture.show(Inference(1500, 2500, [[0.25, 0.75]]))
    text = console.export_text()
    assert "1.5 s   2.50 ms a run   right" in text
    left, right = (
        next(x for x in text.splitlines() if x.startswith(n)) for n in ("left", "right ")
    )
    assert left.count("█") == 13 and right.count("█") == 40


def test_sparklines_scale_to_their_values():
    assert sparkline([0.0, 1.0, float("nan"), 0.5]) == "▁█?▄"
    assert sparkline([]) == ""
