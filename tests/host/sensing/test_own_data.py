"""docs/sensing.md works on the emulated Pico: record samples, train a model, get answers."""

import importlib
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from examples.own_data import sensor  # noqa: F401  (it is MicroPython, and plain Python)
from tools import flash
from tools.converter.__main__ import main as converter
from tools.sensing import monitor

ROOT = Path(__file__).parents[3]
SENSOR = ROOT / "examples" / "own_data" / "sensor.py"


def record(folder, keys, *argv):
    """Record with keys pressed on a terminal, each after a number of samples of a label."""
    near, far = pty.openpty()
    command = [sys.executable, "-m", "tools.sensing.record", "--target", "rp2040"]
    command += ["--flash", "own.flash", "--sensor", SENSOR, "-o", "data.npz", *argv]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=folder, stdin=far, stdout=subprocess.PIPE, stderr=far, env=environment
    ) as child:
        os.close(far)
        shown, keys = b"", list(keys)
        while True:
            try:
                shown += os.read(near, 4096)
            except OSError:  # its end of the terminal is closed
                break
            if keys and _samples(shown, keys[0].label) >= keys[0].samples:
                os.write(near, keys.pop(0).key.encode())
        out = child.stdout.read().decode()
    os.close(near)
    assert child.returncode == 0, shown.decode()
    return out


class Key(NamedTuple):
    """A key, pressed after so many samples of a label, however slow the computer is."""

    key: str
    samples: int
    label: str


def _samples(shown, label):
    """Return how many samples came since the status line first named the label."""
    lines = re.findall(r"([\d,]+) samples, (.*?)\x1b", shown.decode(errors="replace"))
    counts = [int(count.replace(",", "")) for count, named in lines if named == label]
    return counts[-1] - counts[0] if counts else 0


@pytest.mark.slow
def test_recording_training_deploying_and_monitoring_work(
    ready_target, tmp_path, monkeypatch, capfd
):
    pytest.importorskip("skl2onnx", reason="training needs scikit-learn and skl2onnx")
    train = importlib.import_module("examples.own_data.train")
    ready_target("rp2040")
    monkeypatch.chdir(tmp_path)
    names = ["--labels", "still,shake", "--window", "32", "--hop", "2", "--append"]
    call = ["--call", "samples('still')", "--label", "still", "-n", "160"]
    assert "still 160" in record(tmp_path, [], *names, *call)
    # 2 chooses "shake", q ends; what came before has no label.
    keys = [Key("2", 5, "no label"), Key("q", 100, "shake")]
    record(tmp_path, keys, *names, "--call", "samples('shake')")
    none, still, shake = np.bincount(np.load("data.npz")["label"] + 1, minlength=3)
    assert none > 0 and still == 160 and shake >= 100
    capfd.readouterr()
    assert train.main(["data.npz"]) == 0
    assert converter(["model.onnx", "model.bin", "--labels-file", "labels.txt"]) == 0
    board = ["--target", "rp2040", "--flash", "own.flash"]
    assert flash.main(["model.bin", *board]) == 0
    assert "verified:" in capfd.readouterr().out
    call = ["--call", "samples('shake')", "-n", "4", "--json"]
    assert monitor.main([*board, "--sensor", str(SENSOR), *call]) == 0
    results = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [it["answer"] for it in results] == ["shake"] * 4


@pytest.mark.slow
def test_pins_are_recorded(ready_target, tmp_path):
    """Nothing is connected to the emulated Pico's analog pins."""
    from tools.sensing import record as command

    ready_target("rp2040")
    argv = ["--target", "rp2040", "--flash", str(tmp_path / "own.flash"), "--pin", "26", "27"]
    out = str(tmp_path / "pins.npz")
    assert command.main([*argv, "--rate", "200", "-n", "21", "-o", out]) == 0
    result = np.load(out)
    assert result["samples"].shape == (21, 2)
    # No earlier than the rate allows. How much later depends on the emulator and its serial port.
    assert result["t_ms"][-1] >= 99
