"""`mpconnxr record` records from a fake board."""

import json

import numpy as np
import pytest

from tests.host.sensing.sensors import RAMP, on_board, record_from
from tools.sensing import record

BLOCKS = """
from array import array
def samples():
    for i in range(5):
        yield array("h", [i, -i, i + 1, -i - 1])
"""
BYTES = "def samples():\n    yield bytearray(b'\\x01\\x02\\x03\\x04')\n"


@pytest.fixture
def port(ready_target, tmp_path):
    folder = tmp_path / "board"
    folder.mkdir()
    with on_board(ready_target, folder) as port:
        yield port


def test_a_number_of_samples_gets_a_label(port, tmp_path, capsys):
    argv = ("--call", "samples(2)", "--label", "up", "-n", 7, "--window", 3, "--hop", 2)
    assert record_from(port, tmp_path, RAMP, *argv) == 0
    result = np.load(tmp_path / "data.npz")
    assert result["samples"].tolist() == [[2 * i, -i] for i in range(7)]
    assert result["labels"].tolist() == ["up"] and result["y"].tolist() == [0, 0, 0]
    assert result["x"].shape == (3, 3, 2) and result["x"][1, 0].tolist() == [4, -2]
    printed = capsys.readouterr().out
    assert "7 samples of 2 numbers recorded, 7 in" in printed and "3 windows of 3" in printed


def test_recordings_are_replaced_on_request_only(port, tmp_path, capsys):
    assert record_from(port, tmp_path, RAMP, "-n", 3, "--label", "a") == 0
    assert record_from(port, tmp_path, RAMP, "-n", 3) == 1
    assert "--append adds to it, --overwrite replaces it" in capsys.readouterr().err
    assert record_from(port, tmp_path, RAMP, "-n", 4, "--label", "b", "--append", "--json") == 0
    about = json.loads(capsys.readouterr().out)
    assert about["labels"] == {"a": 3, "b": 4} and about["samples"] == 7
    assert record_from(port, tmp_path, RAMP, "-n", 2, "--overwrite") == 0
    assert len(np.load(tmp_path / "data.npz")["samples"]) == 2


def test_a_recording_ends_with_the_sensor(port, tmp_path):
    assert record_from(port, tmp_path, BLOCKS, "--channels", 2) == 0
    result = np.load(tmp_path / "data.npz")["samples"]
    assert result.dtype == np.int16
    assert result.tolist() == [[i + k, -i - k] for i in range(5) for k in (0, 1)]
    assert record_from(port, tmp_path, BYTES, "--dtype", "int16", "--overwrite") == 0
    assert np.load(tmp_path / "data.npz")["samples"].tolist() == [[0x0201], [0x0403]]


def test_a_recording_may_end_within_a_block(port, tmp_path):
    assert record_from(port, tmp_path, BLOCKS, "--channels", 2, "-n", 3) == 0
    assert len(np.load(tmp_path / "data.npz")["samples"]) == 3


def test_seconds_are_those_of_the_board(port, tmp_path):
    slow = (
        RAMP + "\nimport time\ndef slow():\n    for s in samples():\n        time.sleep_ms(20)\n"
    )
    slow += "        yield s\n"
    assert record_from(port, tmp_path, slow, "--call", "slow()", "--seconds", 0.2) == 0
    assert np.load(tmp_path / "data.npz")["t_ms"].max() <= 200


def test_samples_before_an_error_are_kept(port, tmp_path, capsys):
    broken = "def samples():\n    yield 1\n    yield 2\n    raise ValueError('loose wire')\n"
    assert record_from(port, tmp_path, broken) == 1
    err = capsys.readouterr().err
    assert "record: the board raised ValueError: loose wire" in err
    assert np.load(tmp_path / "data.npz")["samples"].tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def samples():\n    return\n    yield", "the sensor yielded no samples"),
        ("def samples():\n    yield 'text'\n", "something other than numbers"),
        ("def samples(:\n", "SyntaxError"),
        ("import nothing_of_the_kind\n", "ImportError"),
        ("led = Pin(25)\n", "the board raised NameError"),
        ("def read():\n    yield 1\n", "record: sensor.py has no generator samples()"),
        ("def samples():\n    return 1\n", "the board raised TypeError"),
    ],
)
def test_a_sensor_without_samples_is_refused(port, tmp_path, capsys, source, message):
    assert record_from(port, tmp_path, source) == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "data.npz").exists()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("motion(3)", "record: sensor.py has no generator motion()"),
        ("samples(speed)", "the board raised NameError: name 'speed'"),
        ("range(3)", ""),
    ],
)
def test_a_call_names_what_the_sensor_lacks(port, tmp_path, capsys, call, message):
    status = record_from(port, tmp_path, RAMP, "--call", call)
    err = capsys.readouterr().err
    assert status == bool(message) and message in err and "reset meanwhile" not in err


@pytest.mark.parametrize(
    "argv",
    [
        ("-o", "x.npz"),
        ("-o", "x.npz", "--pin", "26", "--sensor", "s.py"),
        ("-o", "x.npz", "--pin", "26", "--hop", "3"),
        ("-o", "x.npz", "--pin", "26", "-n", "-1"),
        ("-o", "x.npz", "--pin", "26", "--labels", "a,,b"),
        ("-o", "x.npz", "--pin", "26", "--dtype", "int17"),
        ("--pin", "26"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_refused(argv, capsys):
    with pytest.raises(SystemExit) as e:
        record.main(["nowhere", *argv])
    assert e.value.code == 2


def test_a_missing_board_is_reported(tmp_path, capsys):
    (tmp_path / "s.py").write_text(RAMP)
    out = str(tmp_path / "x.npz")
    argv = [str(tmp_path / "none"), "--sensor", str(tmp_path / "s.py"), "-o", out]
    assert record.main(argv) == 1
    assert "none" in capsys.readouterr().err
