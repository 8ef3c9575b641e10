"""What run() takes as inputs, and what it says of those that do not fit: docs/api.md."""

import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RELU = "[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]"


@every_target
def test_values(target, relu):
    script = """
from array import array
import struct
import mpconnxr
m = mpconnxr.load("m.bin")
flat = [1, -2, 3.0, -4, 5, -6]
raw = struct.pack("<6f", *flat)
for x in (flat, tuple(flat), [flat[:3], flat[3:]], array("f", flat), raw, bytearray(raw),
          memoryview(raw), memoryview(array("f", flat)), array("b", [1, -2, 3, -4, 5, -6]),
          {"x": flat}, [array("f", flat[:3]), tuple(flat[3:])]):
    print(list(m.run(x)[0].data))
"""
    assert small.lines(target, script, m=relu) == [RELU] * 11


@every_target
@pytest.mark.parametrize(
    ("x", "text"),
    [
        ("[1, 2]", "x: 2 values where float32 (2, 3) are needed"),
        ("[[1, 2, 3]]", "x: shape (2, 3) is needed"),
        ("[[1, 2], [3, 4]]", "x: 2 values where float32 (2, 3) are needed"),
        ("[[1, 2, 3], [4, 5, [6]]]", "x: [6] is no float32"),
        ("[[[1, 2]] * 3] * 2", "x: 2 values where float32 (2, 3) are needed"),
        ("b'123'", "x: 3 bytes given, 24 needed for float32 (2, 3)"),
        ("1.5", "x: 1 values given, 6 needed"),
        ("[1, 2, 3, 4, 5, None]", "x: None is no float32"),
        ("'abcdef'", "x: 'abcdef' is no float32"),
        ("['a'] * 6", "x: 'a' is no float32"),
        ("memoryview(array('i', [0] * 24))", "x: bytes or float32 are needed"),
        ("{'z': [0] * 6}", "no input z; there are x"),
        ("{}", "input x is missing"),
    ],
)
def test_values_that_do_not_fit(target, relu, x, text):
    script = f"""
from array import array
import mpconnxr
m = mpconnxr.load("m.bin")
try:
    m.run({x})
except mpconnxr.InputError as e:
    print(e)
print(list(m.run([1, -2, 3, -4, 5, -6])[0].data))
"""
    assert small.lines(target, script, m=relu) == [text, RELU]


@every_target
@pytest.mark.parametrize(
    ("dtype", "values", "bad"),
    [
        ("INT8", [-128, 127], [-129, 128, 1.5]),
        ("UINT8", [0, 255], [-1, 256]),
        ("INT16", [-(1 << 15), (1 << 15) - 1], [1 << 15]),
        ("UINT16", [0, 65535], [65536]),
        ("INT32", [-(1 << 31), (1 << 31) - 1], [1 << 31]),
        ("UINT32", [0, (1 << 32) - 1], [1 << 32, -1]),
        ("INT64", [-(1 << 63), (1 << 63) - 1], [1 << 63]),
        ("UINT64", [0, (1 << 64) - 1], [1 << 64]),
        ("BOOL", [False, True], [2]),
    ],
)
def test_values_of_each_dtype(target, dtype, values, bad):
    dtype = getattr(TensorProto, dtype)
    nodes = [("Transpose", "x", "y", {"perm": [1, 0]})]
    proto = small.model(
        nodes, [small.value("x", (1, 2), dtype)], [small.value("y", (2, 1), dtype)]
    )
    script = f"""
import mpconnxr
m = mpconnxr.load("m.bin")
print(list(m.run({values})[0].data) == {values})
for value in {bad}:
    try:
        m.run([0, value])
    except mpconnxr.InputError as e:
        print(e)
"""
    printed = small.lines(target, script, m=small.binary(proto))
    assert printed[0] == "True"
    assert len(printed) == 1 + len(bad) and all("is no" in line for line in printed[1:])


@every_target
def test_several_inputs_and_a_scalar(target, two_inputs):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
for x in ([[1, 2], [3], 4], ([1, 2], b"\\0\\0\\x40\\x40", [4]), {"s": 4, "b": [3], "a": [1, 2]}):
    y, r = m.run(x)
    print(list(y.data), r.shape, list(r.data))
for x in ([1, 2], 1, [[1, 2], [3]], {"a": [1, 2], "b": [3]}):
    try:
        m.run(x)
    except mpconnxr.InputError as e:
        print(e)
"""
    count = "the model has 3 inputs: give a list of as many"
    expected = ["[1.0, 2.0, 3.0] () [4.0]"] * 3 + [count] * 3 + ["input s is missing"]
    assert small.lines(target, script, m=two_inputs) == expected
