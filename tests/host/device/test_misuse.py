"""Calls that cannot be right: each ends in an error that docs/api.md names; the next one works.

`python -m tools.fuzz calls` found these.
"""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
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
    assert said == ["TypeError arena: a bytearray or a memoryview of one is needed"] * 9
    assert closed == "InputError the file is closed" and none == "[]"


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
    said = ["InputError labels: a sequence is needed", *["InputError p: from 0 to 100"] * 2]
    assert small.lines(target, script, m=relu) == said


@every_target
def test_a_run_that_was_not_begun_does_not_count_as_done(target, relu):
    """poll() with a slice of no number ended the run, and the next poll reported its outputs."""
    script = (
        ATTEMPT
        + """
m = mpconnxr.load("m.bin")
done = []
m.submit([1, -2, 3, -4, 5, -6], 1, lambda id, result: done.append(id))
attempt(lambda: m.poll("a"))
print(m.poll(), done)
m.submit([1, -2, 3, -4, 5, -6], 2, lambda id, result: done.append((id, list(result[0].data))))
while m.poll():
    pass
print(done)
"""
    )
    said, *last = small.lines(target, script, m=relu)
    assert said.startswith("TypeError")
    assert last == ["False []", "[(2, [1.0, 0.0, 3.0, 0.0, 5.0, 0.0])]"]


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
