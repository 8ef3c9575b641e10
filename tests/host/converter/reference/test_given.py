"""--golden: what does not fit the model is refused; where there is no vector, a note says why."""

import sys

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tests.host.device.binfile import GOLDEN, File
from tools.converter.convert import Options, convert
from tools.converter.errors import UsageError

X = np.arange(6, dtype=np.float32).reshape(2, 3)
J = np.array([[1, 2, 3]])  # int64


def model(rows=2):
    """y = x + float(i)."""
    nodes = [("Cast", "i", "f", {"to": TensorProto.FLOAT}), ("Add", "x f", "y", {})]
    inputs = [small.value("x", (rows, 3)), small.value("i", (1, 3), TensorProto.INT64)]
    return small.model(nodes, inputs, [small.value("y", (rows, 3))])


def vector(done):
    return File(done.data).chunk(GOLDEN)


@pytest.mark.parametrize("option", [{}, {"weights": "int8"}, {"float": "python"}, {"strip": True}])
@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ([X], r"1 given, 2 needed: x float32 \[2, 3\]; i int64 \[1, 3\]"),
        ([X, J, X], "3 given, 2 needed: "),
        ([X[0], J], r"input x float32 \[2, 3\] is given shape \[3\]"),
        ([X[:1], J], r"input x float32 \[2, 3\] is given shape \[1, 3\]"),
        ([X, J.astype(np.int32)], r"input i int64 \[1, 3\] is given int32: convert it"),
    ],
)
def test_what_does_not_fit_is_refused(arrays, said, option):
    with pytest.raises(UsageError, match=f"--golden: .*{said}"):
        convert(model(), Options(golden=arrays, **option))


def test_an_order_of_bytes_is_no_other_dtype():
    wanted = vector(convert(model(), Options(golden=[X, J])))
    assert vector(convert(model(), Options(golden=[X.astype(">f4"), J]))) == wanted


def test_a_state_is_not_given():
    assert vector(convert(model(), Options(golden=[J], state={"x": "y"})))
    with pytest.raises(UsageError, match=r"2 given, 1 needed: i int64 \[1, 3\]"):
        convert(model(), Options(golden=[X, J], state={"x": "y"}))


def test_a_size_that_each_run_decides_fits():
    assert convert(model("n"), Options(golden=[X[:1], J], bounds={"n": 5})).data
    with pytest.raises(UsageError, match=r"input x float32 \[n, 3\] is given shape \[2, 2\]"):
        convert(model("n"), Options(golden=[X[:, :2], J], bounds={"n": 5}))


def test_a_note_says_that_onnxruntime_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    [note] = convert(model()).notes
    assert note == "no golden vector: onnxruntime is not installed: pip install onnxruntime"


def test_a_note_says_what_onnxruntime_does_not_run():
    """It has no Max of int16."""
    info = [small.value(name, (3,), TensorProto.INT16) for name in "xy"]
    [note] = convert(small.model([("Max", "x x", "y", {})], info[:1], info[1:])).notes
    assert note.startswith("no golden vector: onnxruntime does not run this model: ")
    assert "Max" in note and "\n" not in note
