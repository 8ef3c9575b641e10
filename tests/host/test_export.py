"""The models that the scripts of examples/export write run on a board's MicroPython."""

import importlib.util
import json
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest

from examples.running import ROOT
from tests.host.device import small
from tools.cache import cache_folder, locked
from tools.converter.convert import convert
from tools.converter.file import writer
from tools.converter.reference import golden
from tools.format import layout

LONG = os.environ.get("MPCONNXR_LONG") == "1"
NEEDS = {
    "keras_network": ("keras", "torch", "onnxscript"),
    "lightgbm_trees": ("lightgbm", "onnxmltools"),
    "pytorch_network": ("torch", "onnxscript"),
    "sklearn_forest": ("skl2onnx",),
    "tensorflow_network": ("tensorflow", "tf2onnx"),
    "xgboost_trees": ("xgboost", "onnxmltools"),
}
LARGE = (
    *("keras==3.*", "torch==2.13.0", "onnxscript", "onnx", "scikit-learn"),
    *("tensorflow-cpu==2.21.*", "tf2onnx==1.17.*"),
)


def script(name):
    absent = [m for m in NEEDS[name] if importlib.util.find_spec(m) is None]
    why = f"not installed: {', '.join(absent)} (MPCONNXR_LONG=1 installs them)"
    return pytest.param(name, marks=pytest.mark.skipif(bool(absent and not LONG), reason=why))


def python_for(name):
    """Return this Python, or one with the large frameworks in the cache folder.

    The long run makes that one.
    """
    if all(importlib.util.find_spec(m) for m in NEEDS[name]):
        return sys.executable
    folder = cache_folder() / "frameworks"
    with locked("frameworks"):
        if not (folder / "whole").exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
            command = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", *LARGE]
            subprocess.run(command, check=True)
            (folder / "whole").touch()
    return str(folder / "bin" / "python")


def assert_converts(printed, name, folder):
    """Run the command that a script prints, and check that the model computes what was trained."""
    [line] = [line for line in printed.splitlines() if line.startswith("mpconnxr convert ")]
    words = line.split()[2:]
    assert words[:2] == [f"{folder / name}.onnx", f"{folder / name}.bin"]
    completed = subprocess.run(
        [sys.executable, "-m", "tools.converter", *words, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert completed.returncode == 0, completed.stderr
    result = json.loads(completed.stdout)
    assert not result["expect"]["warning"] and result["expect"]["error"] < 1e-5
    assert result["check"]["checked"]


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix32"], indirect=True)
@pytest.mark.parametrize("name", [script(name) for name in NEEDS])
def test_an_exported_model_agrees_with_onnxruntime(target, name, tmp_path):
    # in a process of its own: some of the frameworks crash beside each other
    words = [python_for(name), "-m", f"examples.export.{name}", str(tmp_path)]
    environment = os.environ | {"KERAS_BACKEND": "torch"}
    options = {"capture_output": True, "text": True, "timeout": 300, "env": environment}
    completed = subprocess.run(words, cwd=ROOT, **options)
    assert completed.returncode == 0, completed.stderr
    printed = completed.stdout
    assert_converts(printed, name, tmp_path)
    model, x = onnx.load(tmp_path / f"{name}.onnx"), np.load(tmp_path / f"{name}.npy")
    completed = convert(model)
    files = {}
    for k in range(4):
        inputs = [x[k : k + 1]]
        chunk = golden.chunk(inputs, golden.reference(model, inputs))
        files[f"m{k}"] = writer.model_bytes(
            completed.graph, completed.plan.arena_bytes, [(layout.CHUNK_GOLDEN, chunk)]
        )
    lines = """
from mpconnxr import golden
for k in range(4):
    print(golden.verify("m{}.bin".format(k)).ok)
"""
    assert small.lines(target, lines, **files) == ["True"] * 4
