"""Typed views read and write each dtype, in the retyped form and in the one by struct."""

import pytest

from tests.host.device import small
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)

# ONNX dtype number, name, values that show sign, width and order of bytes (exact in any float)
KINDS = (
    (1, "float32", [-1.5, 1.25e9]),
    (2, "uint8", [1, 254]),
    (3, "int8", [-2, 127]),
    (4, "uint16", [1, 0xFFFE]),
    (5, "int16", [-2, 0x7FFE]),
    (6, "int32", [-2, 0x7FFFFFFE]),
    (7, "int64", [-2, 0x7FFFFFFFFFFFFFFE]),
    (9, "bool", [0, 1]),
    (10, "float16", [0x3C00, 0xFC00]),
    (11, "float64", [-1.5, 0.25]),
    (12, "uint32", [1, 0xFFFFFFFE]),
    (13, "uint64", [1, 0xFFFFFFFFFFFFFFFE]),
    (16, "bfloat16", [0x3F80, 0xFF80]),
    (17, "float8e4m3fn", [1, 0xFE]),
    (18, "float8e4m3fnuz", [1, 0xFE]),
    (19, "float8e5m2", [1, 0xFE]),
    (20, "float8e5m2fnuz", [1, 0xFE]),
    (21, "uint4", [0, 15]),
    (22, "int4", [-8, 7]),
    (23, "float4e2m1", [0, 15]),
    (24, "float8e8m0", [1, 0xFE]),
    (25, "uint2", [0, 3]),
    (26, "int2", [-2, 1]),
    (27, "float6e2m3", [1, 63]),
    (28, "float6e3m2", [1, 63]),
)

CHECK = """
import struct
from mpconnxr import tensor
tensor.RETYPES = tensor.RETYPES and {retypes}
print(tensor.RETYPES)
for dtype, name, values in {kinds}:
    code = tensor.code_of(dtype)
    size = struct.calcsize(code)
    buffer = bytearray(b"\\xa5" * 64)
    t = tensor.Tensor(buffer, 16, 2 * size, dtype, (2,), "t")
    for i in range(2):
        t.data[i] = values[i]
    right = t.dtype == name and t.nelem == 2 and len(t.data) == 2 and list(t.data) == values
    right = right and struct.pack("<2" + code, *values) == bytes(buffer[16 : 16 + 2 * size])
    right = right and t.data[-1] == values[1] and list(t.data[1:]) == values[1:]
    beside = buffer[:16] + buffer[16 + 2 * size :]
    right = right and beside == b"\\xa5" * len(beside)
    for i in (2, -3):
        try:
            t.data[i]
            right = False
        except IndexError:
            pass
    print(name, right)
"""


@every_target
@pytest.mark.parametrize("retypes", [True, False])
def test_views_read_and_write_each_dtype(target, retypes):
    printed = small.run(target, CHECK.format(retypes=retypes, kinds=KINDS)).splitlines()
    assert printed == [str(retypes)] + [f"{name} True" for _, name, _ in KINDS]


@every_target
def test_unknown_dtypes_have_no_type_code(target):
    script = """
from mpconnxr import tensor
print([tensor.code_of(d) for d in (-1, 0, 8, 14, 15, 29, 128, 255)])
"""
    assert small.run(target, script).strip() == str([None] * 8)


@every_target
def test_a_model_runs_without_retyping(target):
    """The fallback serves plain loops, in an arena and over bytes at any alignment."""
    proto, x = small.moving(), small.floats(1, 3, 5, 6)
    script = """
import mpconnxr
from mpconnxr import forms, tensor
tensor.RETYPES = False
print(forms.available("relu"))
data = bytearray(b"?") + open("m.bin", "rb").read()
arena = memoryview(bytearray(9 + mpconnxr.load("m.bin").arena_nbytes))[9:]
m = mpconnxr.load(memoryview(data)[1:], arena=arena)
print(list(m.run(open("x.bin", "rb").read())[0].data))
"""
    files = {"m.bin": small.binary(proto), "x.bin": x.tobytes()}
    forms, y = small.run(target, script, files).splitlines()
    assert forms == "['plain']"
    assert eval(y) == pytest.approx(small.expected(proto, x)[0].ravel().tolist(), rel=1e-6)


@every_target
def test_alignment_of_buffers_is_detected(target):
    script = """
from mpconnxr import tensor
print([tensor.is_aligned(memoryview(bytearray(64))[i:]) for i in range(9)])
print(tensor.is_aligned(bytearray(0)), tensor.is_aligned(bytearray(3)))
"""
    aligned = [i % 8 == 0 for i in range(9)]
    assert small.run(target, script).splitlines() == [str(aligned), "True True"]


def test_views_beyond_16_mb_are_refused_on_32_bit_machines(ready_target):
    """These have 24 bits for a memoryview's offset."""
    script = """
from mpconnxr import UnsupportedError, tensor
buffer = bytearray(17 << 20)
try:
    print(len(tensor.view(buffer, 16 << 20, "i", 4)))
except UnsupportedError as e:
    print(e)
"""
    assert small.run(ready_target("unix"), script, heap=64 << 20) == "4\n"
    assert "out of reach" in small.run(ready_target("unix32"), script, heap=64 << 20)
