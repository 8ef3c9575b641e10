"""Loops that are written once have the same bits in plain and viper form, and allocate nothing."""

import json

import numpy as np
import pytest
from onnx import TensorProto

from tests.host.device import small
from tests.host.device.small import run
from tools.converter.convert import convert
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)

GATHER = """
import json
from array import array
from mpconnxr import forms
p = [1, 6, 1, 5, 3, 2, 4, 0, -1, 0]
index = array("i", [9, 4, -5, 0, 5, -1, 9])
wide = array("i", [9, 9, 4, 0, -5, -1, 0, 1, 0, 0, -1, -1, 9, 9])
for form in forms.available("gather"):
    loops, found = forms.get("gather", form), []
    for words, w in ((1, index), (2, wide)):
        p[2] = words
        for loop, kind in ((loops.gather32, "i"), (loops.gather8, "B")):
            x = array(kind, range(17))
            for k in range(17):
                x[k] = k * 77 - ((k & 1) << 31) if kind == "i" else k * 77 & 255
            out, block = array(kind, [7] * 30), array("i", p)
            loop(x, w, out, block)
            found.append([list(out), block[9]])
    print(json.dumps(found))
"""


@on_targets
def test_forms_of_gather_agree(target):
    forms = [json.loads(line) for line in run(target, GATHER).splitlines()]
    assert len(forms) == 1 + target.viper
    assert all(form == forms[0] for form in forms)
    rows = {
        "i": [k * 77 - (k & 1) * 2**31 for k in range(17)],
        "B": [k * 77 & 255 for k in range(17)],
    }
    for results, kind in zip(forms[0], "iBiB", strict=True):
        expected = np.full(30, 7)
        for at, row in enumerate([4, 0, 0, 0, 4], start=1):
            expected[4 + 3 * at : 7 + 3 * at] = rows[kind][2 + 3 * row : 5 + 3 * row]
        assert results == [expected.tolist(), 1]  # 5, or 2**32, is out of range: row 0 and a count


POOL = """
import json
from array import array
from mpconnxr import forms
B = 1 << 29
for form in forms.available("pool"):
    loops, found = forms.get("pool", form), []
    for bits, least in (("i", -8388608), ("B", 128), ("B", 0)):
        x = array(bits, json.loads(open(bits).read()))
        p = [3, 2, 4, 5, 2, 3, 2, 1, 1, 2, B - 1, B + 2, 1 + B, 1, least, 1, 5, 4, 20, 5, 1, 1000]
        out, index = array(bits, [7] * 12), array("i", [7] * 24)
        size = "32" if bits == "i" else "8"
        getattr(loops, "max_row" + size)(x, x, out, array("i", p))
        getattr(loops, "find_row" + size)(x, out, index, array("i", p))
        found.append([list(out), list(index)])
    print(json.dumps(found))
"""


@on_targets
def test_forms_of_pools_agree(target):
    rng = np.random.default_rng(2)
    values = rng.standard_normal(43).astype(np.float32)
    octets = rng.integers(0, 256, 43).astype(np.uint8)
    files = {
        "i": json.dumps(values.view(np.int32).tolist()).encode(),
        "B": json.dumps(octets.tolist()).encode(),
    }
    forms = [json.loads(line) for line in run(target, POOL, files).splitlines()]
    assert len(forms) == 1 + target.viper
    assert all(form == forms[0] for form in forms)
    for (out, index), data in zip(forms[0], (values, octets.view(np.int8), octets), strict=True):
        image = data[3:43].reshape(2, 4, 5)
        for column in range(1, 5):
            taps = [x for x in (column - 1, column + 1) if 0 <= x < 5]
            window = image[0, 2:4][:, taps]  # z - 1 and the third y lie in the padding
            got = np.array(out[4 + column : 5 + column], np.int64).astype(np.int32)
            got = got.view(np.float32)[0] if data is values else np.uint8(got[0]).view(data.dtype)
            assert got == window.max()
            y, x = np.unravel_index(window.argmax(), window.shape)
            assert index[2 * (4 + column)] == 1000 + (2 + y) * 5 + taps[x]
        assert out[:5] == [7] * 5 and index[:10] == [7] * 10


@on_targets
@pytest.mark.parametrize("args", [(), ("sliced",)])
def test_gather_and_max_pool_allocate_nothing(target, args):
    """Their steps run whole and element by element with a locked heap."""
    nodes = [
        ("MaxPool", "x", "p i", {"kernel_shape": [2, 3], "strides": [1, 2]}),
        ("Gather", "p i0", "g", {"axis": 3}),
        ("Gather", "i i0", "h", {"axis": 2}),
        ("Gather", "x i0", "y", {"axis": 1}),
    ]
    order = np.random.default_rng(1).integers(-2, 2, 60)
    outputs = [small.value("y", (1, 60, 5, 6)), small.value("g", (1, 2, 4, 60))]
    outputs.append(small.value("h", (1, 2, 60, 2), TensorProto.INT64))
    model = small.model(nodes, [small.value("x", (1, 2, 5, 6))], outputs, i0=order)
    converted, x = convert(model), small.floats(1, 2, 5, 6)
    assert [s.kernel for s in converted.graph.steps] == ["max_pool"] + ["gather"] * 3
    files = {"model.bin": converted.data, "x.bin": x.tobytes()}
    allocated, kept, output = run(target, small.SCRIPTS / "allocation.py", files, args).split()
    assert kept == "0"
    assert allocated == "0" or not target.viper  # plain loops have frames of their own
    np.testing.assert_array_equal(
        np.frombuffer(bytes.fromhex(output), np.float32), x[:, order].ravel()
    )
