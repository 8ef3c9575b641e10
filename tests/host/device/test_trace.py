"""Model.trace and trace.follow show what each step computes on a device."""

import base64
import re

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tests.host.device import small
from tests.host.device.test_timing import KERNELS, looping
from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import open_session
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
FILL = """
import mpconnxr
m = mpconnxr.load("m.bin")
with open("x.bin", "rb") as f:
    f.readinto(m.inputs[0].view("B"))
"""
DUMP = """
import binascii, os
try:
    os.mkdir("out")
except OSError:
    pass
y = m.trace(level=0, dump="out")
print(y is m.outputs)
for name in sorted(os.listdir("out")):
    with open("out/" + name, "rb") as f:
        print(name, str(binascii.b2a_base64(f.read()), "ascii").strip())
"""


def every_value(model):
    """Return the model with each value as an output."""
    result = onnx.shape_inference.infer_shapes(model)
    have = {o.name for o in model.graph.output}
    model.graph.output.extend(v for v in result.graph.value_info if v.name not in have)
    return model


@every_target
def test_each_step_has_the_value_of_onnxruntime(target, tmp_path):
    """The model is not rewritten; the values come from the .npy files of the device."""
    model = every_value(small.mixed())
    x = small.floats(1, 2, 5, 6, seed=3)
    data = convert(model, Options(optimize=1)).data
    first, *files = small.lines(target, FILL + DUMP, m=data, x=x.tobytes())
    assert first == "True"
    right = open_session(model).run(None, {"x": x})
    right = dict(zip([o.name for o in model.graph.output], right, strict=True))
    order = ["c", "r", "p", "t", "y"]  # by step
    assert [line.split()[0] for line in files] == [f"{k}_0.npy" for k in range(5)]
    for name, line in zip(order, files, strict=True):
        path = tmp_path / "a.npy"
        path.write_bytes(base64.b64decode(line.split()[1]))
        got = np.load(path)
        assert got.dtype == np.float32 and got.shape == right[name].shape
        np.testing.assert_allclose(got, right[name], rtol=0, atol=1e-5 * np.abs(right[name]).max())


@every_target
def test_levels_select_what_is_traced(target):
    x = np.ones((1, 2, 5, 6), np.float32)
    data = convert(small.mixed(), Options(optimize=1)).data
    script = FILL + 'for level in (1, 2, 3):\n    m.trace(level=level)\n    print("end")\n'
    text = "\n".join(small.lines(target, script, m=data, x=x.tobytes()))
    one, two, three, _ = text.split("end")
    lines = [line for line in one.splitlines() if line]
    computed = [line for line in lines if "read weights" not in line]
    assert [line.split()[-3] for line in computed] == KERNELS
    assert all(re.search(r" \d+ us$", line) for line in lines)
    ranges = re.findall(r"-> float32 \[1, .*\]: (\S+) to (\S+), mean (\S+)\n", two)
    assert len(ranges) == len(KERNELS)
    assert all(float(low) <= float(mean) <= float(high) for low, high, mean in ranges)
    assert float(ranges[1][0]) == 0  # of Relu
    elements = re.findall(r"mean \S+, (.*)\n", three)
    assert [len(i.split()) for i in elements] == [8] * 4 + [3]


@every_target
def test_infinities_and_nan_are_counted(target):
    model = small.relu((4,))
    data = convert(model, Options()).data
    x = np.array([1, np.inf, np.nan, -2], np.float32)
    (_, line) = small.lines(target, FILL + "m.trace(level=2)", m=data, x=x.tobytes())
    assert line.strip() == "-> float32 [4]: 0 to 1, mean 0.5, 2 not finite"


@every_target
def test_bodies_are_traced_in_each_round(target):
    data = convert(looping(), Options(optimize=0)).data
    script = """
import mpconnxr
from mpconnxr.inspect.trace import follow
m = mpconnxr.load("m.bin")
steps = []
m.inputs[0].view("B")[:] = bytes(m.inputs[0].nbytes)
follow(m, lambda step, outputs: steps.append((step.step, step.kernel)))
print(steps)
again = [n for n, s in m._steps]
m.run()
"""
    (line,) = small.lines(target, script, m=data)
    steps = eval(line)
    counts = {step: steps.count(step) for step in steps}
    rounds = sorted(n for (number, _), n in counts.items() if "/" in number)
    assert rounds[-1] == 7 and 3 in rounds and 4 in rounds  # the body; either branch of its If


@every_target
def test_tracing_keeps_the_models_state(target):
    """The second run traces the state that the first one left."""
    nodes = [("Add", "x s", "t", {}), ("Identity", "t", "y", {})]
    model = small.model(
        nodes,
        [small.value("x", (2,)), small.value("s", (2,))],
        [small.value("t", (2,)), small.value("y", (2,))],
    )
    data = convert(model, Options(state={"s": "t"})).data
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
for i in range(3):
    for t in m.inputs: t.data[0], t.data[1] = 1, 2
    m.trace(level=3)
"""
    lines = small.lines(target, script, m=data)
    added = [line.split(", ")[-1] for line in lines if "mean" in line]
    assert "1 2" in added and "2 4" in added and "3 6" in added


@every_target
def test_open_shapes_are_traced_and_wrong_levels_refused(target):
    model = small.relu()
    model.graph.input[0].type.tensor_type.shape.dim[0].dim_param = "N"
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_param = "N"
    data = convert(model, Options(bounds={"N": 4})).data
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
print([list(t.data) for t in m.trace([[1, -2, 3]], 2)])
for level in (-1, 4, None):
    try:
        m.trace(level=level)
    except mpconnxr.InputError as e:
        print(e)
"""
    lines = small.lines(target, script, m=data)
    assert lines[-4:] == ["[[1.0, 0.0, 3.0]]"] + ["level: an integer from 0 to 3 is needed"] * 3
    assert lines[1].strip() == "-> decided in the run"


@every_target
def test_narrow_floats_are_decoded_and_saved_as_bytes(target, tmp_path):
    kind = TensorProto.BFLOAT16
    model = small.model(
        [("Cast", "x", "y", {"to": kind})],
        [small.value("x", (3,))],
        [small.value("y", (3,), kind)],
    )
    data = convert(model, Options()).data
    x = np.array([1, -2, 0.5], np.float32)
    lines = small.lines(target, FILL + "m.trace(level=3)" + FILL + DUMP, m=data, x=x.tobytes())
    assert lines[1].strip() == "-> bfloat16 [3]: -2 to 1, mean -0.16667, 1 -2 0.5"
    path = tmp_path / "a.npy"
    path.write_bytes(base64.b64decode(lines[-1].split()[1]))
    assert np.load(path).view(np.uint16).tolist() == [0x3F80, 0xC000, 0x3F00]
