"""Wrong calls raise errors that docs/api.md names, and the next call works.

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


def attempts(target, script, **files):
    """Return the lines of a script that calls attempt()."""
    return small.lines(target, ATTEMPT + script, **files)


@every_target
def test_views_of_other_type_codes_are_refused(target, two_inputs):
    """The codes "O" and "S" would turn the model's numbers into pointers."""
    script = """
m = mpconnxr.load("m.bin")
t = m.inputs[1]
for code in ("O", "S", "P", "s", "", "ff", "<f", "?", "\\0"):
    attempt(lambda: t.view(code))
print([len(t.view(code)) for code in "bBhHiIf"])
"""
    *printed, last = attempts(target, script, m=two_inputs)
    assert len(printed) == 9 and all(s.startswith("InputError b: no view of ") for s in printed)
    assert last == "[4, 4, 2, 2, 1, 1, 1]"


@every_target
def test_values_that_are_not_sequences_are_refused(target, relu):
    script = """
m = mpconnxr.load("m.bin")
for x in ({1, 2}, [{1: 2}] * 2, {"x": {3}}, iter([1]), len, m, object()):
    attempt(lambda: m.run(x))
print(list(m.run([1, -2, 3, -4, 5, -6])[0].data))
"""
    *printed, last = attempts(target, script, m=relu)
    assert len(printed) == 7 and all(s.startswith("InputError ") for s in printed), printed
    assert last == "[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]"


@every_target
def test_wrong_arenas_and_sources_are_refused(target, relu):
    script = """
for code in "bhHiIqQfd":
    attempt(lambda: mpconnxr.load("m.bin", arena=memoryview(array(code, [0] * 600))))
file = open("m.bin", "rb")
file.close()
attempt(lambda: mpconnxr.load(file))
from mpconnxr.sharing import load_all
print(load_all([]))
"""
    *printed, closed, none = attempts(target, script, m=relu)
    assert printed == ["InputError arena: a bytearray or a memoryview of one is needed"] * 9
    assert closed == "InputError source: the file is closed, or is none" and none == "[]"


@every_target
def test_wrong_labels_and_percentiles_are_refused(target, relu):
    script = """
m = mpconnxr.load("m.bin")
m.run([1, 2, 3, 4, 5, 6])
attempt(lambda: mpconnxr.top_k(m.outputs[0], 1, {k: "a" for k in "abcdef"}))
attempt(lambda: m.benchmark(2).percentile(101))
attempt(lambda: m.benchmark(2).percentile(-1))
"""
    message = [
        "InputError labels: a sequence is needed",
        *["InputError p: a number from 0 to 100 is needed"] * 2,
    ]
    assert attempts(target, script, m=relu) == message


@every_target
def test_a_run_that_never_began_is_not_complete(target, relu):
    """poll() with a slice that is not a number leaves the run in the queue."""
    script = """
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
    printed, *last = attempts(target, script, m=relu)
    assert printed == "InputError slice_ms: an integer from 1 to 262144 is needed"
    assert last == ["False [1]", "[(2, [1.0, 0.0, 3.0, 0.0, 5.0, 0.0])]"]


def test_a_shape_of_floats_is_refused(target):
    data = small.binary(
        small.model([("Relu", "x", "y", {})], [small.value("x", ("n", 3))],
                    [small.value("y", ("n", 3))]), bounds={"n": 5},
    )  # fmt: skip
    script = """
m = mpconnxr.load("m.bin")
m.run([1.0] * 6)
for shape in ((1.5, 3), ("a", 3), (None, 3), (2, 3.0)):
    attempt(lambda: m.inputs[0].set_shape(shape))
print(m.run([1.0] * 9)[0].shape)
"""
    *printed, last = attempts(target, script, m=data)
    assert all(s.startswith("InputError") for s in printed) and last == "(3, 3)"


@every_target
def test_an_exchanged_file_is_not_described(target, relu):
    other = small.binary(small.mixed(), strip=False)
    script = """
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
    printed, last = attempts(target, script, m=relu, other=other)
    assert printed == "MpconnxrError the file is another one than when it was loaded"
    assert last == "[1.0, 0.0, 3.0, 0.0, 5.0, 0.0]"


@every_target
def test_values_that_cannot_be_quantized_are_refused(target):
    q = [("DequantizeLinear", "x s z", "f", {}), ("QuantizeLinear", "f s z", "y", {})]
    proto = small.model(
        q, [small.value("x", (6,), TensorProto.INT8)], [small.value("y", (6,), TensorProto.INT8)],
        s=np.array(0.5, np.float32), z=np.array(3, np.int8),
    )  # fmt: skip
    script = """
t = mpconnxr.load("m.bin").inputs[0]
for x in ({1, 2}, {0: 1}, ["a"] * 6, len):
    attempt(lambda: t.quantize(x))
"""
    printed = attempts(target, script, m=small.binary(proto, strip=False))
    assert len(printed) == 4 and all(s.startswith("InputError ") for s in printed), printed


@every_target
def test_names_that_are_not_utf8_are_shown_with_marks(target):
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
    names, line = attempts(target, script, m=data.replace(name, b"a\xff\xfeb"))
    assert names == "[97, 65533, 65533, 98]" and line == "[65533, 65533]"


@every_target
def test_a_missing_path_is_named(target):
    script = """
import mpconnxr
try:
    mpconnxr.load("nope.bin")
except OSError as e:
    print(e.errno, "nope.bin" in str(e))
"""
    assert attempts(target, script) == ["2 True"]
