"""No command overwrites a file that it reads."""

import shutil

import numpy as np
import onnx
import pytest

from tests.host.converter.test_convert import ROOT, cli
from tools.converter.__main__ import main

MODEL = ROOT / "examples" / "digits" / "digits.onnx"


@pytest.fixture
def folder(tmp_path):
    """Return a folder with a model, links to it, and its inputs."""
    shutil.copy(MODEL, tmp_path / "m.onnx")
    (tmp_path / "soft.bin").symlink_to("m.onnx")
    (tmp_path / "hard.bin").hardlink_to(tmp_path / "m.onnx")
    np.save(tmp_path / "x.npy", np.zeros((1, 1, 8, 8), np.float32))
    return tmp_path


@pytest.mark.parametrize(
    "options",
    [
        ("m.onnx", "m.onnx"),
        ("m.onnx", "./m.onnx"),
        ("m.onnx", "soft.bin"),
        ("m.onnx", "hard.bin"),
        ("m.onnx", "m.bin", "--save-optimized", "m.onnx"),
        ("m.onnx", "m.bin", "--save-optimized", "m.bin"),
        ("m.onnx", "x.npy", "--golden", "x.npy"),
        ("m.onnx", "x.npy", "--bind", "image=x.npy"),
        ("m.onnx", "x.npy", "--quantize", "int8", "--calibration", "x.npy"),
        ("m.onnx", "x.npy", "--quantize", "int8", "--calibration", "."),
        ("report", "m.onnx", "-o", "soft.bin"),
        ("tensor", "x.npy", "./x.npy"),
    ],
)
def test_writing_over_an_input_is_refused(options, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    before = {p.name: p.read_bytes() for p in folder.iterdir()}
    assert main(list(options)) == 2
    assert "would be written over" in capsys.readouterr().err
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_external_data_are_not_overwritten(folder):
    model = onnx.load(folder / "m.onnx")
    onnx.save(
        model, folder / "e.onnx", save_as_external_data=True, location="e.data", size_threshold=0
    )
    before = (folder / "e.data").read_bytes()
    completed = cli(folder / "e.onnx", folder / "e.data")
    assert completed.returncode == 2 and "would be written over" in completed.stderr
    assert (folder / "e.data").read_bytes() == before
