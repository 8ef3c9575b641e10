"""A run is right after one in which memory ended in the middle of a driver."""

import numpy as np
import pytest

from tests.host.device import small
from tools.converter.convert import Options, convert

ROWS, COLUMNS = 5, 8
SCRIPT = """
from micropython import heap_lock, heap_unlock
import mpconnxr

model, short = mpconnxr.load("model.bin"), (mpconnxr.UnsupportedError, MemoryError)
good, bad = [open(name, "rb").read() for name in ("good", "bad")]


def fill(data):
    target, i = model.inputs[0].view("B"), 0
    while i < len(data):
        target[i] = data[i]
        i += 1


model.run()  # what a first run checks takes heap
ended = None
fill(bad)
heap_lock()
try:
    model.run()
    ended = False
except short:
    ended = True
heap_unlock()
fill(good)
model.run()
print(ended, bytes(model.outputs[0].view("B")).hex())
"""
MODELS = {
    "rows of a norm": ("LayerNormalization", {"axis": -1}, {"w": small.floats(COLUMNS)}),
    "rows of a product": ("MatMul", {}, {"w": small.floats(COLUMNS, COLUMNS, seed=3)}),
}


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("name", MODELS)
def test_the_run_after_an_aborted_one_is_right(target, name):
    op, attributes, constants = MODELS[name]
    shapes = [small.value(each, (ROWS, COLUMNS)) for each in ("x", "y")]
    proto = small.model([(op, "x w", "y", attributes)], shapes[:1], shapes[1:], **constants)
    good = small.floats(ROWS, COLUMNS)
    bad = small.floats(ROWS, COLUMNS, seed=9)
    bad[2, 1] = np.inf  # of a row that floats compute, which takes heap
    converted = convert(proto, Options(strip=True, keep_inputs=True))
    files = {"model.bin": converted.data, "good": good.tobytes(), "bad": bad.tobytes()}
    ended, result = small.run(target, SCRIPT, files).split()
    assert ended == "True"
    got = np.frombuffer(bytes.fromhex(result), np.float32).reshape(ROWS, COLUMNS)
    np.testing.assert_allclose(got, small.expected(proto, good)[0], rtol=1e-5, atol=1e-5)
