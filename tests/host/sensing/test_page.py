"""The programs of docs/sensing.md run, on every target, from the sensor to the answers."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

PAGE = (Path(__file__).parents[3] / "docs" / "sensing.md").read_text()
LENGTH, HOP = 32, 8  # of the page's window
SENSOR = """
def samples():
    for i in range(160):
        size = 0 if i < 64 else 4000
        yield size * (i & 1), -size * (i & 1), 8192
"""


def program(word):
    """Return the page's Python block that has this word."""
    [block] = [b for b in re.findall("```python\n(.*?)```", PAGE, re.S) if word in b]
    return block


def model():
    """Return a model of the page's interface: it takes large differences for shaking."""
    n = 3 * LENGTH
    differences = np.eye(n, n - 3) - np.eye(n, n - 3, -3)
    signs = np.array([[-0.001, 0.001]] * (n - 3)) / (n - 3)
    nodes = [
        ("MatMul", "x d", "differences", {}),
        ("Abs", "differences", "sizes", {}),
        ("MatMul", "sizes w", "moves", {}),
        ("Add", "moves b", "scores", {}),
        ("ArgMax", "scores", "label", {"axis": 1, "keepdims": 0}),
        ("Softmax", "scores", "probabilities", {}),
    ]
    outputs = [small.value("label", (1,), np.int64), small.value("probabilities", (1, 2))]
    constants = {"d": differences, "w": signs, "b": np.array([0.5, -0.5])}
    constants = {name: value.astype(np.float32) for name, value in constants.items()}
    return small.model(nodes, [small.value("x", (1, n))], outputs, **constants)


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_the_program_answers_a_sensor(target):
    data = convert(model(), Options(strip=True, class_names=("still", "shake"))).data
    files = {"model.bin": data, "sensor.py": SENSOR.encode()}
    answers = small.run(target, program("import mpconnxr"), files).split()
    assert len(answers) == (160 - LENGTH) // HOP + 1
    changes = [a for a, before in zip(answers, ["", *answers], strict=False) if a != before]
    assert changes in (["still", "shake"], ["still", "unknown", "shake"])


def test_training_data_are_the_windows_of_a_recording(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    samples = np.random.default_rng(0).integers(-9, 9, (100, 3))
    np.savez("data.npz", samples=samples)
    names = {}
    exec(program("import numpy"), names)
    slices = np.lib.stride_tricks.sliding_window_view(samples, LENGTH, axis=0)[::HOP]
    assert np.array_equal(names["x"], slices.transpose(0, 2, 1).reshape(len(slices), -1))
