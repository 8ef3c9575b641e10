"""Tables of bytes: every form gives the entries; damaged models are refused or harmless."""

import json

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tests.host.device.small import run
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)

SCRIPT = """
import json
from array import array
from mpconnxr import forms
x = bytes([k * 37 & 255 for k in range(300)])
bytes_ = bytes([k * 91 + 5 & 255 for k in range(256)])
words = array("i", [(k - 128) * 16777215 for k in range(256)])
p = array("i", [3, 290])
for form in forms.available("lookup"):
    loops = forms.get("lookup", form)
    narrow, wide = bytearray(300), array("i", [7] * 300)
    loops.lookup8(x, bytes_, narrow, p)
    loops.lookup32(x, words, wide, p)
    print(json.dumps([list(narrow), list(wide)]))
"""


@on_targets
def test_all_forms_give_the_entries(target):
    results = [json.loads(line) for line in run(target, SCRIPT).splitlines()]
    assert len(results) == 1 + target.viper
    x = np.arange(300) * 37 & 255
    narrow, wide = x * 91 + 5 & 255, (x - 128) * 16777215
    for y, rest in ((narrow, 0), (wide, 7)):
        y[:3] = y[290:] = rest
    assert all(form == [narrow.tolist(), wide.tolist()] for form in results)


def table(values, x_dtype=TensorProto.INT8, n=40):
    y = small.value("y", [n], helper.np_dtype_to_tensor_dtype(values.dtype))
    nodes = [("Lookup", "x t", "y", {"domain": "mpconnxr"})]
    return small.model(nodes, [small.value("x", [n], x_dtype)], [y], t=values)


BYTES = np.arange(256, dtype=np.uint8)[::-1].copy()
# In the order of what they stand for, from -128 or 0 on: up by up to 2 a step.
RISES = np.repeat([0, 1, 0, 2], 64).cumsum()
OF_SIGNED = np.roll(RISES - 90, 128).astype(np.int8)
RISING = [(RISES.astype(np.uint8), TensorProto.UINT8), (OF_SIGNED, TensorProto.INT8)]


@on_targets
@pytest.mark.parametrize(("values", "dtype"), RISING)
def test_tables_of_few_entries_are_packed(target, values, dtype):
    """They take a quarter of the bytes; a damaged file is refused or harmless."""
    model = table(values, dtype, 256)
    converted = convert(model, Options(strip=True))
    [step] = converted.graph.steps
    assert step["bits"] == 2 and step.inputs[1].nbytes == 64
    x = np.arange(256, dtype=np.uint8)
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes()]])])
    np.testing.assert_array_equal(np.frombuffer(outcome.runs[0].outputs[0], values.dtype), values)
    report = small.damage(target, converted.data, "words", "1")
    assert report.ok and report.refused and report.ran, report


@on_targets
@pytest.mark.parametrize("values", [BYTES, BYTES.astype(np.float32)])
def test_damaged_models_do_no_harm(target, values):
    report = small.damage(target, small.binary(table(values)), "words", "1")
    assert report.ok and report.refused and report.ran, report


@pytest.mark.parametrize(
    "wrong",
    [
        table(BYTES[:255]),
        table(BYTES.astype(np.float64)),
        table(BYTES, TensorProto.INT16),
    ],
)
def test_wrong_tables_are_refused(wrong):
    with pytest.raises(ConvertError, match="by table"):
        convert(wrong, Options(strip=True))
