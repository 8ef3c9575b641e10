"""Implementation of element-wise operators: forms of a loop, split steps, custom functions."""

import json
import math
import struct

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tools import package
from tools.converter.convert import Options, convert
from tools.micropython import UNIX_TARGETS

PACKAGE = package.folder()
on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


def run(target, script, **files):
    completed = target.run(script, files={"mpconnxr": PACKAGE, **files})
    assert completed.returncode == 0, completed.stderr
    return [json.loads(line) for line in completed.stdout.splitlines()]


FORMS_SCRIPT = """
import json
from array import array
from mpconnxr import forms, tensor
bits = open("bits", "rb").read()
n = len(bits) // 4
x = tensor.view(bytearray(bits), 0, "i", n)
for form in forms.available("clip"):
    results = []
    for low, high in json.loads(open("limits").read()):
        out = array("i", [77] * n)
        forms.get("clip", form).clip32(x, x, out, array("i", [1, n - 1, low, high]))
        results.append(list(out))
    print(json.dumps(["clip", form, results]))
mask = bytes([i * i % 5 % 3 for i in range(64)])
p = array("i", [3, 7, 2, 1, 5, 1, 4, 3, 5])
for form in forms.available("select"):
    loops = forms.get("select", form)
    words, octets = array("i", [-5] * 24), bytearray(24)
    loops.select32(x, mask, words, p)
    loops.select8(bits, mask, octets, p)
    print(json.dumps(["select", form, [list(words), list(octets)]]))
"""


def expected_select(x, out):
    mask = [i * i % 5 % 3 for i in range(64)]
    for row in range(3):
        for element in range(5):
            if mask[1 + 5 * row + element]:
                out[4 + 5 * row + element] = int(x[3 + 7 * row + 2 * element])
    return out


@on_targets
def test_all_forms_give_the_same_bits(target):
    values = [0.0, -0.0, 1.5, -1.5, 3e38, -3e38, 1e-40, -1e-40, np.inf, -np.inf, np.nan, 6, 5.9]
    x = np.array([9, *values, *np.linspace(-7, 7, 29), 9], np.float32)
    x[-2] = -np.float32(np.nan)
    limits = np.array([[0, 6], [-6, -1], [-1, 1], [1, -1], [-np.inf, np.inf]], np.float32)
    files = {"bits": x.tobytes(), "limits": json.dumps(limits.view(np.int32).tolist()).encode()}
    results = run(target, FORMS_SCRIPT, **files)
    assert [form for _, form, _ in results] == 2 * (
        ["viper", "plain"] if target.viper else ["plain"]
    )
    for family, _, got in results:
        if family == "clip":
            for (low, high), bits in zip(limits, got, strict=True):
                clipped = np.minimum(np.maximum(x[1:-1], low), high)
                np.testing.assert_array_equal(np.array(bits, np.int32)[1:-1].view("f4"), clipped)
                assert bits[0] == bits[-1] == 77
            assert got == results[0][2]
        else:
            assert got[0] == expected_select(x.view(np.int32), [-5] * 24)
            assert got[1] == expected_select(list(x.tobytes()), [0] * 24)


PIECES_SCRIPT = """
import json
import mpconnxr
model = mpconnxr.load("model")
def fill():
    for k, t in enumerate(model.inputs):
        for i in range(t.nelem):
            t.data[i] = (i * 7 + k) % 5 - 2
fill()
whole = list(model.run()[0].data)
for size in (1, 2, 3):
    fill()
    for i in range(model.outputs[0].nelem):
        model.outputs[0].data[i] = 99
    for n, step in model._steps:
        lo = 0
        while lo < n:
            step(lo, min(n, lo + size))
            lo += size
    print(json.dumps(list(model.outputs[0].data) == whole))
"""


@on_targets
@pytest.mark.parametrize("op", ["Sub", "Where", "Sin"])
def test_split_steps_make_the_whole(target, op):
    shapes = {"Sub": [(2, 1, 3, 1, 2), (1, 4, 1, 5, 1)], "Where": [(3, 1), (2, 1, 4), (3, 4)]}
    shapes = shapes.get(op, [(11,)])
    dtypes = [TensorProto.FLOAT] * len(shapes)
    if op == "Where":
        dtypes[0] = TensorProto.BOOL
    names = [f"x{i}" for i in range(len(shapes))]
    infos = [small.value(*v) for v in zip(names, shapes, dtypes, strict=True)]
    out = small.value("y", np.broadcast_shapes(*shapes))
    model = small.model([(op, " ".join(names), "y", {})], infos, [out])
    data = convert(model, Options(strip=True, keep_inputs=True)).data
    assert run(target, PIECES_SCRIPT, model=data) == [True] * 3


SPECIAL_SCRIPT = """
import json, struct
from mpconnxr.ops import _float_special as f
from mpconnxr import tensor
raw = bytearray(open("x", "rb").read())
x = tensor.view(raw, 0, "f", len(raw) // 4)
for function in (f.erf, f.erfc, f.tanh, f.expm1):
    print(json.dumps([struct.unpack("<i", struct.pack("<f", function(v)))[0] for v in x]))
"""


@on_targets
def test_functions_that_firmware_lacks_are_exact(target):
    tiny = np.logspace(-30, 0, 61)
    x = np.concatenate([np.linspace(-9, 9, 361), tiny, -tiny, [0, 30, -30, 85, -85]])
    x = x.astype(np.float32)
    results = run(target, SPECIAL_SCRIPT, x=x.tobytes())
    functions = (math.erf, math.erfc, math.tanh, math.expm1)
    for function, bits in zip(functions, results, strict=True):
        got = np.frombuffer(struct.pack(f"<{len(bits)}i", *bits), np.float32)
        expected = np.array([function(float(v)) for v in x], np.float64)
        np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-44, err_msg=str(function))


EVERY_SCRIPT = """
import json, struct
from array import array
from mpconnxr import ModelError
from mpconnxr.build.calls import Memories, prepared
from mpconnxr.build.node import Node
from mpconnxr.ops import activation, binary, cast, unary
from mpconnxr.tensor import Tensor, code_of
tiny = 1e-10
doubles = 1.0 + tiny != 1.0
bits = [0, -(1 << 31), 0x7F800000, -0x800000, 0x7FC00000, 0x7F7FFFFF, 1, -1, 0x3F800000]
words = array("i", bits + [-5, 0x40490FDB, 0x42C80000, 0x50000000, -0x3F000000, 127, 128])
raw = bytearray(words)
n = 2 * len(words) // 4
def tensor(dtype, fill):
    size = struct.calcsize(code_of(dtype))
    return Tensor(bytearray(raw) if fill else bytearray(len(raw)), 0, n * size, dtype, (n,))
dtypes = [1, 2, 3, 4, 5, 6, 7, 9, 10, 12, 13, 16] + ([11] if doubles else [])
ran = refused = 0
def attempt(kernel, dtypes, params):
    global ran, refused
    inputs = [tensor(d, True) for d in dtypes[:-1]]
    node = Node("?", inputs, [tensor(dtypes[-1], False)], [], array("i", params))
    try:
        count, step = prepared(kernel, node, Memories(None, None, None))
    except ModelError:
        refused += 1
        return
    step(0, count)
    ran += 1
for a in dtypes:
    for out in (a, 9, 1):
        for op in range(-1, len(unary._OPS) + len(unary._FUNCTIONS) + 1):
            attempt(unary, (a, out), [op])
        for op in range(-1, len(activation._OPS) + 1):
            for c in (0, -8388608, 0x7FC00000, 0x3F000000):
                attempt(activation, (a, out), [op, c, c, c])
    for out in dtypes:
        attempt(cast, (a, out), [])
        for op in range(-1, len(binary._OPS) + 1):
            for b in dtypes if op == 4 else (a, out):
                attempt(binary, (a, b, out), [op, 2, 2, n // 2, 0, 1, n // 2, 1])
                attempt(binary, (a, b, out), [op, 1, n, 1, 0])
print(json.dumps([ran, refused]))
"""


@on_targets
def test_no_operator_raises_on_any_values(target):
    [[ran, refused]] = run(target, EVERY_SCRIPT)
    assert ran > 500 and refused > 500
