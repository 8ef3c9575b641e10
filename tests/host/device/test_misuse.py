"""Calls that cannot be right: each ends in an error that docs/api.md names; the next one works.

`python -m tests.fuzz calls` found these.
"""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools.converter.convert import convert
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
ATTEMPT = """
import mpconnxr
from array import array
def attempt(call):
    try:
        call()
        print("no error")
    except (mpconnxr.MpconnxrError, TypeError) as e:
        print(type(e).__name__, str(e))
"""


@every_target
def test_views_of_other_items(target, two_inputs):
    """ "O" and "S" would make pointers of the model's numbers."""
    script = (
        ATTEMPT
        + """
m = mpconnxr.load("m.bin")
t = m.inputs[1]
for code in ("O", "S", "P", "s", "", "ff", "<f", "?", "\\0"):
    attempt(lambda: t.view(code))
print([len(t.view(code)) for code in "bBhHiIf"])
"""
    )
    *said, last = small.lines(target, script, m=two_inputs)
    assert len(said) == 9 and all(s.startswith("InputError b: no view of ") for s in said)
    assert last == "[4, 4, 2, 2, 1, 1, 1]"


@every_target
def test_values_that_are_no_sequences(target, relu):
    script = (
        ATTEMPT
        + """
m = mpconnxr.load("m.bin")
for x in ({1, 2}, [{1: 2}] * 2, {"x": {3}}, iter([1]), len, m, object()):
    attempt(lambda: m.run(x))
print(list(m.run([1, -2, 3, -4, 5, -6])[0].data))
"""
    )
    *said, last = small.lines(target, script, m=relu)
    assert len(said) == 7 and all(s.startswith("InputError ") for s in said), said
    assert last == "[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]"


@every_target
def test_arenas_and_sources(target, relu):
    script = (
        ATTEMPT
        + """
for code in "bhHiIqQfd":
    attempt(lambda: mpconnxr.load("m.bin", arena=memoryview(array(code, [0] * 600))))
file = open("m.bin", "rb")
file.close()
attempt(lambda: mpconnxr.load(file))
from mpconnxr.sharing import load_all
print(load_all([]))
"""
    )
    *said, closed, none = small.lines(target, script, m=relu)
    assert said == ["InputError arena: a bytearray or a memoryview of one is needed"] * 9
    assert closed == "InputError source: the file is closed, or is none" and none == "[]"


@every_target
def test_labels_and_percentiles(target, relu):
    script = (
        ATTEMPT
        + """
m = mpconnxr.load("m.bin")
m.run([1, 2, 3, 4, 5, 6])
attempt(lambda: mpconnxr.top_k(m.outputs[0], 1, {k: "a" for k in "abcdef"}))
attempt(lambda: m.benchmark(2).percentile(101))
attempt(lambda: m.benchmark(2).percentile(-1))
"""
    )
    said = [
        "InputError labels: a sequence is needed",
        *["InputError p: a number from 0 to 100 is needed"] * 2,
    ]
    assert small.lines(target, script, m=relu) == said


@every_target
def test_a_run_that_was_not_begun_does_not_count_as_done(target, relu):
    """poll() with a slice of no number leaves the run in the queue."""
    script = (
        ATTEMPT
        + """
m = mpconnxr.load("m.bin")
done = []
m.submit([1, -2, 3, -4, 5, -6], 1, lambda id, result: done.append(id))
attempt(lambda: m.poll("a"))
print(m.poll(), done)
done = []
m.submit([1, -2, 3, -4, 5, -6], 2, lambda id, result: done.append((id, list(result[0].data))))
while m.poll():
    pass
print(done)
"""
    )
    said, *last = small.lines(target, script, m=relu)
    assert said == "InputError slice_ms: an integer from 1 to 262144 is needed"
    assert last == ["False [1]", "[(2, [1.0, 0.0, 3.0, 0.0, 5.0, 0.0])]"]


def test_a_shape_of_floats(target):
    data = small.binary(
        small.model([("Relu", "x", "y", {})], [small.value("x", ("n", 3))],
                    [small.value("y", ("n", 3))]), bounds={"n": 5},
    )  # fmt: skip
    script = (
        ATTEMPT
        + """
m = mpconnxr.load("m.bin")
m.run([1.0] * 6)
for shape in ((1.5, 3), ("a", 3), (None, 3), (2, 3.0)):
    attempt(lambda: m.inputs[0].set_shape(shape))
print(m.run([1.0] * 9)[0].shape)
"""
    )
    *said, last = small.lines(target, script, m=data)
    assert all(s.startswith("InputError") for s in said) and last == "(3, 3)"


@every_target
def test_a_file_that_was_exchanged_is_not_described(target, relu):
    other = small.binary(small.mixed(), strip=False)
    script = (
        ATTEMPT
        + """
m = mpconnxr.load("m.bin", arena=bytearray(8192))
with open("other.bin", "rb") as f:
    data = f.read()
import os
os.remove("m.bin")
with open("m.bin", "wb") as f:
    f.write(data)
attempt(lambda: m.profile([0.0] * 6))
print(list(m.run([1, -2, 3, -4, 5, -6])[0].data))
"""
    )
    said, last = small.lines(target, script, m=relu, other=other)
    assert said == "MpconnxrError the file is another one than when it was loaded"
    assert last == "[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]"


@every_target
def test_what_does_not_fit_integers(target):
    q = [("DequantizeLinear", "x s z", "f", {}), ("QuantizeLinear", "f s z", "y", {})]
    proto = small.model(
        q, [small.value("x", (6,), TensorProto.INT8)], [small.value("y", (6,), TensorProto.INT8)],
        s=np.array(0.5, np.float32), z=np.array(3, np.int8),
    )  # fmt: skip
    script = (
        ATTEMPT
        + """
t = mpconnxr.load("m.bin").inputs[0]
for x in ({1, 2}, {0: 1}, ["a"] * 6, len):
    attempt(lambda: t.quantize(x))
"""
    )
    said = small.lines(target, script, m=small.binary(proto, strip=False))
    assert len(said) == 4 and all(s.startswith("InputError ") for s in said), said


@every_target
def test_names_that_are_not_text(target):
    proto = small.relu()
    proto.graph.node[0].name = "a\u00e9b"
    data = convert(proto).data
    name = "a\u00e9b".encode()
    assert data.count(name) == 1
    script = """
import mpconnxr
m = mpconnxr.load("m.bin", verify=False)
print([ord(c) for c in m.profile().steps[0].name[-4:]])
m.trace(level=1, write=lambda line: print([ord(c) for c in line if ord(c) > 127]))
"""
    names, line = small.lines(target, script, m=data.replace(name, b"a\xff\xfeb"))
    assert names == "[97, 65533, 65533, 98]" and line == "[65533, 65533]"


@every_target
def test_a_path_that_is_absent_is_named(target):
    script = """
import mpconnxr
try:
    mpconnxr.load("nope.bin")
except OSError as e:
    print(e.errno, "nope.bin" in str(e))
"""
    assert small.lines(target, script) == ["2 True"]
