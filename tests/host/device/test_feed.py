"""run() accepts the inputs of docs/api.md and reports those that do not fit."""

import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RELU = "[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]"


@every_target
def test_run_accepts_values_of_each_form(target, relu):
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
def test_values_that_do_not_fit_are_refused(target, relu, x, text):
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
def test_values_of_each_dtype_are_stored(target, dtype, values, bad):
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
@pytest.mark.parametrize(
    ("dtype", "code", "values", "bad"),
    [
        ("FLOAT", "f", [-0.5, 3e38], "[None, 'a', [1]]"),
        ("INT8", "b", [-128, 127], "[array('B', [0, 128]), array('h', [0, -129])]"),
        ("UINT8", "B", [0, 255], "[array('b', [0, -1]), array('h', [0, 256])]"),
        ("INT16", "h", [-(1 << 15), (1 << 15) - 1], "[array('H', [0, 1 << 15])]"),
        ("UINT16", "H", [0, 65535], "[array('h', [0, -1]), array('i', [0, 65536])]"),
        ("INT32", "i", [-(1 << 31), (1 << 31) - 1], "[array('I', [0, 1 << 31])]"),
        ("UINT32", "I", [0, (1 << 32) - 1], "[array('i', [0, -1])]"),
        ("INT64", "q", [-(1 << 63), (1 << 63) - 1], "[array('Q', [0, 1 << 63])]"),
        ("UINT64", "Q", [0, (1 << 64) - 1], "[array('q', [0, -1])]"),
        ("BOOL", "B", [0, 1], "[array('B', [0, 2]), memoryview(array('h', [0, 2]))]"),
    ],
)
def test_arrays_and_views_of_each_dtype_are_stored(target, dtype, code, values, bad):
    """Arrays may have the dtype's typecode, at any offset, or another one, in range."""
    dtype = getattr(TensorProto, dtype)
    nodes = [("Transpose", "x", "y", {"perm": [1, 0]})]
    proto = small.model(
        nodes, [small.value("x", (1, 2), dtype)], [small.value("y", (2, 1), dtype)]
    )
    script = f"""
from array import array
import mpconnxr
m = mpconnxr.load("m.bin")
values = {values}
whole = array("{code}", [0] + values + [0])
own = whole[1:3]
wanted = list(own)
for x in (own, memoryview(own), memoryview(whole)[1:3], memoryview(memoryview(whole)[1:])[:2],
          values, tuple(values), [values], bytes(own), bytearray(own), memoryview(bytes(own))):
    m.run(own)
    m.inputs[0].data[0] = m.inputs[0].data[1] = 0
    m.inputs[0].data[1] = 1
    if list(m.run(x)[0].data) != wanted:
        print("wrong", x)
def refused(x):
    try:
        m.run(x)
        print("taken", x)
    except mpconnxr.InputError as e:
        if "is no" not in str(e) and "needed" not in str(e):
            print(e)
for x in {bad}:
    refused(x if isinstance(x, (array, memoryview)) else [0, x])
for x in (whole, memoryview(whole), memoryview(whole)[:1], array("{code}"), bytes(own)[1:],
          values + values, (), [0, "a"], [0, None], ["0", 1], [0, b"1"]):
    refused(x)
if "{code}" not in "fd":
    for x in (float("nan"), float("inf"), 1.0, 1 << 70, -1 << 70):
        refused([0, x])
        refused((x, 0))
"""
    assert small.lines(target, script, m=small.binary(proto)) == []


@every_target
def test_a_flat_value_allocates_nothing_of_its_size(target):
    script = """
import gc
from array import array
import mpconnxr
m = mpconnxr.load("m.bin")
x = [0.5] * 192
a = array("f", x)
for value in (x, tuple(x), a, memoryview(a), bytes(a)):
    m.run(value)
    gc.collect()
    gc.disable()
    before = gc.mem_alloc()
    m.run(value)
    print(gc.mem_alloc() - before < 400)
    gc.enable()
"""
    data = small.binary(small.relu((1, 192)))
    assert small.lines(target, script, m=data) == ["True"] * 5


@every_target
def test_leading_dimensions_of_1_may_be_omitted(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
x = [[1, -2], [3, 4]]
for value in (x, [x], [[x]], ((1, -2), (3, 4))):
    print(list(m.run(value)[0].data))
for value in ([[1, 2]], [[1], [2]], [[1, 2], [3, 4], [5, 6]], [x, x], [[[x]]], [[1, 2], [3]]):
    try:
        m.run(value)
    except mpconnxr.InputError as e:
        print("InputError")
inner = mpconnxr.load("inner.bin")
try:
    inner.run([[[1, 2], [3, 4]]])
except mpconnxr.InputError as e:
    print(e)
"""
    files = {"m": small.binary(small.relu((1, 1, 2, 2)))}
    files["inner"] = small.binary(small.relu((2, 1, 2)), strip=False)
    expected = ["[1.0, 0.0, 3.0, 4.0]"] * 4 + ["InputError"] * 6 + ["x: shape (2, 1, 2) is needed"]
    assert small.lines(target, script, **files) == expected


@every_target
def test_several_inputs_and_a_scalar_are_accepted(target, two_inputs):
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
