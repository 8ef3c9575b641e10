"""Dtypes of less than 32 bits on a board: feeding, reading, packed constants, moving."""

import numpy as np
import pytest
from onnx import helper, numpy_helper

from tests.host.device import small
from tests.host.device.binfile import File
from tests.host.ops.narrow_case import FLOATS, INTS, OPSET, as_doubles, patterns
from tools.converter.file import tensorfile
from tools.format import reader
from tools.format.layout import element_bytes
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
PACKED = {**INTS, "float4e2m1": FLOATS["float4e2m1"]}
KINDS = {**FLOATS, **INTS}


def number(name):
    return helper.np_dtype_to_tensor_dtype(np.dtype(KINDS[name]))


def transposed(name, shape=(2, 3)):
    """Return a model of a Transpose, which only moves elements."""
    inputs = [small.value("x", shape, number(name))]
    outputs = [small.value("y", shape[::-1], number(name))]
    return small.model([("Transpose", "x", "y", {})], inputs, outputs, OPSET)


@every_target
@pytest.mark.parametrize("name", [n for n in KINDS if not n.startswith("float6")])
def test_narrow_tensors_are_fed_and_read_as_floats(target, name):
    """Numbers are rounded as by Cast; bit patterns pass unchanged; floats() decodes them."""
    x = np.array([[0.8, 1.03, 0, 1, 0.26, 0.5]], np.float32)
    x = np.rint(x) if name in INTS else x
    if name == "float8e8m0":
        want = np.array([1, 2, 2.0**-127, 1, 0.5, 0.5])
    else:
        want = as_doubles(x.astype(KINDS[name]))
    x = x.ravel().astype(int if name in INTS else float).tolist()
    script = f"""
import mpconnxr
m = mpconnxr.load("m.bin")
y, = m.run({x})
print(y.dtype, y.nelem, y.nbytes)
print(y.floats())
m.inputs[0].data[1] = y.data[1]
for data in (y.data, bytes(y.view("B"))):
    print(m.run(data)[0].floats())
"""
    about, *printed = small.lines(target, script, m=small.binary(transposed(name, (1, 6))))
    assert about == f"{name} 6 {6 * np.dtype(KINDS[name]).itemsize}"
    assert len(printed) == 3
    for line in printed:  # single floats are printed with seven digits
        np.testing.assert_allclose(eval(line), want.ravel(), rtol=1e-6)


@every_target
def test_narrow_floats_accept_numbers_and_bit_patterns(target):
    script = """
from array import array
import mpconnxr
m = mpconnxr.load("m.bin")
for x in ([1, 2], (1.0, 2.0), array("f", [1, 2]), array("H", [0x3C00, 0x4000]), [1e9, -0.0]):
    print(m.run(x)[0].floats())
for x in (["a", 1], [None, 1], array("i", [0, 1 << 16]), array("i", [-1, 0])):
    try:
        m.run(x)
    except mpconnxr.InputError as e:
        print(e)
"""
    same = "[1.0, 2.0]"
    assert small.lines(
        target, script, m=small.binary(transposed("float16", (1, 2)), strip=False)
    ) == [
        *[same] * 4,
        "[inf, -0.0]",
        "x: 'a' is no float16",
        "x: None is no float16",
        "x: 65536 is no float16",
        "x: -1 is no float16",
    ]


@every_target
@pytest.mark.parametrize(("name", "bad"), [("int4", [-9, 8]), ("uint2", [-1, 4])])
def test_small_integers_are_checked_for_their_range(target, name, bad):
    script = f"""
import mpconnxr
m = mpconnxr.load("m.bin")
for value in {bad}:
    try:
        m.run([0, value])
    except mpconnxr.InputError as e:
        print(e)
"""
    printed = small.lines(target, script, m=small.binary(transposed(name, (1, 2)), strip=False))
    assert printed == [f"x: {value} is no {name}" for value in bad]


def some(name, n, seed=0):
    """Return n elements, all bit patterns equally likely."""
    return np.random.default_rng(seed).choice(patterns(name), n)


@every_target
def test_packed_tensor_files_have_onnxs_raw_bytes(target):
    arrays = {f"{name}_{n}": some(name, n) for name in PACKED for n in (1, 2, 3, 4, 5, 33)}
    arrays |= {f"{name}_empty": some(name, 0) for name in PACKED}
    data = tensorfile.tensor_file(arrays)
    stored = reader.read(data)
    for t, x in zip(stored.tensors, arrays.values(), strict=True):
        raw = numpy_helper.from_array(x).raw_data
        assert data[t.offset : t.offset + t.nbytes] == raw and t.packed
    script = """
from mpconnxr import tensorfile
for t in tensorfile.read("t.bin"):
    print(t.name, bytes(t.view("B")))
"""
    printed = small.lines(target, script, t=data)
    assert printed == [f"{name} {element_bytes(x)}" for name, x in arrays.items()]


@every_target
@pytest.mark.parametrize("name", list(PACKED))
def test_packed_weights_are_unpacked_at_load(target, name):
    """y = x + (w - zero) * scale, with a scale for each column and an odd number of weights."""
    rng = np.random.default_rng(2)
    w, zero = some(name, 35).reshape(7, 5), some(name, 5, 3)
    scale = rng.uniform(0.1, 1, 5).astype(np.float32)
    nodes = [("DequantizeLinear", "w scale zero", "d", {"axis": 1}), ("Add", "x d", "y", {})]
    if name.startswith("float"):
        zero = np.zeros(5, KINDS[name])
    x = rng.standard_normal((7, 5)).astype(np.float32)
    proto = small.model(
        nodes,
        [small.value("x", x.shape)],
        [small.value("y", x.shape)],
        25,
        w=w,
        scale=scale,
        zero=zero,
    )
    want = x + (w.astype(np.float32) - zero.astype(np.float32)) * scale
    script = """
import mpconnxr
print(mpconnxr.load("m.bin").run(open("x.bin", "rb").read())[0].floats())
"""
    data = small.binary(proto, optimize=0)  # else it is a float constant
    assert any(t.packed and t.shape == w.shape for t in reader.read(data).tensors)
    got = eval(small.lines(target, script, m=data, x=x.tobytes())[0])
    np.testing.assert_allclose(got, want.ravel(), rtol=1e-6, atol=1e-6)


@every_target
def test_a_packed_flag_on_other_tensors_is_refused(target):
    """Flag 1 is only for constants of less than 8 bits."""
    file = File(tensorfile.tensor_file({"a": np.zeros(2, np.int8), "b": some("int4", 4)}))
    (a, *about_a), (b, *about_b) = file.tensors
    assert about_a[:3] == [3, 1, 0] and about_b[:3] == [22, 1, 1]
    storage, flag = 1, 4
    changes = (a + 1, storage + flag), (b + 1, storage + 2 * flag), (b, 2)
    script = """
from mpconnxr import UnsupportedError, tensorfile
print(len(tensorfile.read("good.bin", verify=False)))
for i in range(3):
    try:
        tensorfile.read(str(i) + ".bin", verify=False)
    except UnsupportedError as e:
        print(e)
"""
    files = {str(i): file.changed(change) for i, change in enumerate(changes)}
    assert small.lines(target, script, good=file.data, **files) == [
        "2",
        "tensor 0: dtype 3 or flags 1",
        "tensor 1: dtype 22 or flags 2",
        "tensor 1: dtype 2 or flags 1",
    ]


@pytest.mark.slow
@every_target
@pytest.mark.parametrize(("mode", "amount"), [("bits", "3"), ("words", "1"), ("several", "500")])
def test_damage_does_no_harm(target, mode, amount):
    """See tests/host/device/test_hostile.py; here with packed constants and narrow casts."""
    nodes = [
        ("DequantizeLinear", "w scale zero", "d", {"axis": 1}),
        ("Add", "x d", "s", {}),
        ("Cast", "s", "f", {"to": number("float8e4m3fn")}),
        ("Cast", "f", "p", {"to": number("float8e8m0")}),
        ("Cast", "p", "y", {"to": number("int2")}),
    ]
    proto = small.model(
        nodes,
        [small.value("x", (3, 5))],
        [small.value("y", (3, 5), number("int2"))],
        25,
        w=some("int4", 15).reshape(3, 5),
        scale=small.floats(5),
        zero=some("int4", 5),
    )
    report = small.damage(target, small.binary(proto), mode, amount)
    assert report.ok and report.refused > 200 and report.ran > 50, report
