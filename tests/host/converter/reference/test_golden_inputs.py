"""Golden inputs fit the model: wrong ones are refused, and a note says why there is no vector."""

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
    """Return the model y = x + float(i)."""
    nodes = [("Cast", "i", "f", {"to": TensorProto.FLOAT}), ("Add", "x f", "y", {})]
    inputs = [small.value("x", (rows, 3)), small.value("i", (1, 3), TensorProto.INT64)]
    return small.model(nodes, inputs, [small.value("y", (rows, 3))])


def vector(converted):
    return File(converted.data).chunk(GOLDEN)


@pytest.mark.parametrize("option", [{}, {"weights": "int8"}, {"float": "python"}, {"strip": True}])
@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ([X], r"1 given, 2 needed: x float32 \[2, 3\]; i int64 \[1, 3\]"),
        ([X, J, X], "3 given, 2 needed: "),
        ([X[0], J], r"input x float32 \[2, 3\] is given shape \[3\]"),
        ([X[:1], J], r"input x float32 \[2, 3\] is given shape \[1, 3\]"),
        ([X, J.astype(np.int32)], r"input i int64 \[1, 3\] is given int32: convert it"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(arrays, message, option):
    with pytest.raises(UsageError, match=f"--golden: .*{message}"):
        convert(model(), Options(golden=arrays, **option))


def test_byte_order_does_not_change_the_dtype():
    expected = vector(convert(model(), Options(golden=[X, J])))
    assert vector(convert(model(), Options(golden=[X.astype(">f4"), J]))) == expected


def test_states_are_not_among_the_inputs():
    assert vector(convert(model(), Options(golden=[J], state={"x": "y"})))
    with pytest.raises(UsageError, match=r"2 given, 1 needed: i int64 \[1, 3\]"):
        convert(model(), Options(golden=[X, J], state={"x": "y"}))


def test_any_size_within_the_bound_fits():
    assert convert(model("n"), Options(golden=[X[:1], J], bounds={"n": 5})).data
    with pytest.raises(UsageError, match=r"input x float32 \[n, 3\] is given shape \[2, 2\]"):
        convert(model("n"), Options(golden=[X[:, :2], J], bounds={"n": 5}))


def test_a_note_says_that_onnxruntime_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    [note] = convert(model()).notes
    assert note.startswith("no test vector to verify a board with: onnxruntime is not installed")


def test_a_note_names_what_onnxruntime_cannot_run():
    """onnxruntime has no Max of int16."""
    info = [small.value(name, (3,), TensorProto.INT16) for name in "xy"]
    [note] = convert(small.model([("Max", "x x", "y", {})], info[:1], info[1:])).notes
    assert note.startswith(
        "no test vector to verify a board with: onnxruntime does not run this model: "
    )
    assert "Max" in note and "\n" not in note


def test_other_inputs_are_tried_if_random_ones_are_refused():
    """An index must be 0 to 2; the random floats become -1, and 3 by their absolute value."""
    nodes = [
        ("Mul", "x far", "f", {}),
        ("Cast", "f", "i", {"to": TensorProto.INT64}),
        ("Gather", "table i", "y", {}),
    ]
    constants = {"far": np.float32(1000), "table": np.array([5, 6, 7], np.float32)}
    ends = [small.value("x", [4])], [small.value("y", [4])]
    converted = convert(small.model(nodes, *ends, **constants))
    assert not any("golden" in note for note in converted.notes)
    assert np.array([5.0] * 4, np.float32).tobytes() in converted.data
