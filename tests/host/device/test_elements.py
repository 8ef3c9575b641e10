"""Elements, lengths and reprs of tensors and models are as docs/api.md says."""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tests.host.program import programs
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
SCRIPT = """
import mpconnxr
m = mpconnxr.load("m.bin")
y = m.run([[0.5, -1, 2], [3, 4.25, -5]])[0]
print(len(y), len(y[0]), y[0][2], y[-1][-3], y[1][1])
print([[x for x in row] for row in y], y[1].shape, y[1].dtype)
y[0].data[0] = 7
print(y[0][0], y.data[0])
for bad in (lambda: y[2], lambda: y[-3], lambda: y[0][3]):
    try:
        bad()
    except IndexError as e:
        print(e)
print(y, y[1], bool(y))
print(m if type(m).__name__ == "Model" else "")
"""
WANTED = [
    "2 3 2.0 3.0 4.25",
    "[[0.5, 0.0, 2.0], [3.0, 4.25, 0.0]] (3,) float32",
    "7.0 7.0",
    "y: index 2 of 2 elements",
    "y: index -3 of 2 elements",
    "y: index 3 of 3 elements",
    "<Tensor y float32 [2, 3]: 7, 0, 2, 3, ...> <Tensor y float32 [3]: 3, 4.25, 0> True",
]


@every_target
def test_tensors_have_the_same_elements_with_kernels_and_programs(target):
    data = small.binary(small.relu(), strip=False)
    arena = "<Model x float32 [2, 3] -> y float32 [2, 3], arena"
    *lines, last = small.lines(target, SCRIPT, m=data)
    assert lines == WANTED and last.startswith(arena)
    made = programs.made(data, target)
    assert programs.run(target, SCRIPT, [made], {"m.bin": data}) == [*WANTED, ""]


@every_target
def test_a_float_that_appears_as_its_bits_is_decoded(target):
    script = """
import mpconnxr
y = mpconnxr.load("m.bin").run([0.5, -1.0, 2.0, 3.0])[0]
print(y[0], y[3], y.data[0], y)
"""
    data = small.binary(small.relu((4,), TensorProto.FLOAT16), strip=False)
    assert small.lines(target, script, m=data) == [
        f"0.5 3.0 {np.float16(0.5).view(np.uint16)} <Tensor y float16 [4]: 0.5, 0, 2, 3>"
    ]


@every_target
def test_a_scalar_has_no_elements(target):
    script = """
import mpconnxr
y = mpconnxr.load("m.bin").run(2.5)[0]
print(y, bool(y), y.data[0])
for bad in (lambda: y[0], lambda: len(y)):
    try:
        bad()
    except mpconnxr.InputError as e:
        print(e)
"""
    data = small.binary(small.relu(()), strip=False)
    assert small.lines(target, script, m=data) == [
        "<Tensor y float32 []: 2.5> True 2.5",
        *["y: a scalar has no elements: take data[0]"] * 2,
    ]
