"""The digits example: its files, and the demo under MicroPython."""

import numpy as np
import onnx
import pytest

from examples.digits import demo
from tools.converter.reference.ort_session import open_session


@pytest.fixture(autouse=True)
def build_folder(monkeypatch, tmp_path):
    """Give each test a folder of its own: tests may run at once."""
    monkeypatch.setattr(demo, "BUILD", tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def expected():
    """Return onnxruntime's answers to all digits of the test set."""
    session = open_session(onnx.load(demo.HERE / "digits.onnx"))
    images, _ = demo.test_split()
    inputs = images.astype(np.float32).reshape(-1, 1, 1, 8, 8) / 16
    return [int(session.run(None, {"image": x})[0].argmax()) for x in inputs]


def test_the_model_is_small_and_accurate(expected):
    model = onnx.load(demo.HERE / "digits.onnx")
    onnx.checker.check_model(model, full_check=True)
    assert sum(int(np.prod(t.dims)) for t in model.graph.initializer) < 10_000
    _, labels = demo.test_split()
    assert len(labels) == 450
    assert np.mean(np.array(expected) == labels) >= 0.98


def test_the_test_split_is_one_of_scikit_learns_digits():
    train = pytest.importorskip("examples.digits.train")
    _, images, _, labels = train.split()
    shipped_images, shipped_labels = demo.test_split()
    assert np.array_equal(images, shipped_images)
    assert np.array_equal(labels, shipped_labels)


@pytest.mark.slow
def test_demo_answers_as_onnxruntime_does(target, expected):
    images, labels = demo.test_split()
    demo.write_files(images, labels)
    assert demo.run(target, len(labels)).predicted == expected


def test_demo_prints_pictures_and_figures(ready_target, expected, monkeypatch, capsys):
    ready_target("unix")
    images, labels = demo.test_split()
    wrong = next(i for i, p in enumerate(expected) if p != labels[i])
    few = [0, 1, 2, wrong]
    monkeypatch.setattr(demo, "test_split", lambda: (images[few], labels[few]))
    assert demo.main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert sum("█" in line for line in lines) >= 12
    text = "\n".join(lines)
    assert f"a {labels[wrong]}, read as {expected[wrong]}" in text
    assert "3 of 4 (75.0%)" in text
    for figure in ("ms for each digit", "bytes of RAM", "model.bin"):
        assert figure in text


def test_demo_shows_the_devices_traceback(target, build_folder):
    (build_folder / "model.bin").write_bytes(b"no model")
    (build_folder / "images.bin").write_bytes(b"")
    with pytest.raises(SystemExit, match="(?s)failed on unix.*Traceback.*ModelError"):
        demo.run(target, 1)
