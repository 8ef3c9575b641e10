"""A program and its file: what loads, what is refused, and what a Model can do."""

import numpy as np
import pytest

from tests.host.device.small import floats, mixed
from tests.host.program import programs
from tests.host.program.test_models import quantized
from tools.converter.convert import convert

TARGETS = ("unix", "unix32", "unix-plain")
HEAD = """
import gc
import mpconnxr

def attempt(what, *args, **keywords):
    try:
        return what(*args, **keywords)
    except Exception as e:
        print(type(e).__name__, e)

def outputs(model):
    return [round(v, 4) for v in model.outputs[0].data]

with open("x", "rb") as f:
    x = f.read()
"""


@pytest.fixture(scope="module")
def small():
    """Return the model's file and an input."""
    data, samples = quantized()
    return data, np.ascontiguousarray(samples[0][0])


def run(target, small, script, stream=False, **files):
    data, x = small
    bundle = programs.made(data, target, stream)
    inputs = {"model.bin": data, "x": x.tobytes(), **files}
    return programs.run(target, HEAD + script, [bundle], inputs)


KINDS = """
usual = mpconnxr.load("model.bin", prefer="plain")
wanted = [usual.run(x)[0].data[i] for i in range(3)]
data = open("model.bin", "rb").read()
for source in ("model.bin", open("model.bin", "rb"), data, bytearray(data), memoryview(data)):
    model = mpconnxr.load(source)
    print(type(model).__name__, [model.run(x)[0].data[i] for i in range(3)] == wanted)
    print([model.run(list(model.inputs[0].data))[0].data[i] for i in range(3)] is not None)
arena = memoryview(bytearray(model.arena_nbytes + 32))[16:]
print(list(mpconnxr.load(data, arena=arena).run(x)[0].data) == wanted)
print(model.inputs[0].shape, model.inputs[0].dtype, model.outputs[0].nelem, model.state_nbytes)
print(mpconnxr.top_k(model.outputs[0])[0][1] == max(model.outputs[0].data))
"""


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_a_program_loads_from_each_kind_of_source(target, small, stream):
    printed = run(target, small, KINDS, stream)
    assert printed[:10] == ["Program True", "True"] * 5
    assert printed[10:] == ["True", "(1, 2, 5, 6) float32 3 0", "True"]


DAMAGED = """
for at in (24, len(data) - 1, 100):
    bad = bytearray(data)
    bad[at] ^= 1
    attempt(mpconnxr.load, bad)
    attempt(mpconnxr.load, bad, verify=False)
attempt(mpconnxr.load, data[:-1])
attempt(mpconnxr.load, data + b"x")
attempt(mpconnxr.load, "nothing.bin")
attempt(mpconnxr.load, b"")
attempt(mpconnxr.load, data, arena=bytearray(8))
print(type(mpconnxr.load(data)).__name__)
"""


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_another_file_is_refused(target, small):
    """Another digest of the tables means another model: kernels examine it."""
    printed = run(target, small, 'data = open("model.bin", "rb").read()\n' + DAMAGED)
    assert printed[0].startswith("ModelError") and "damaged" in printed[0]
    refused = "ModelError not a valid model file: not the one that its program was made for"
    others = printed[2:6] if len(printed) == 12 else printed[1:5]
    assert others == [refused] * 4
    assert printed.count(refused) >= 6
    assert any(line.startswith("ArenaError arena needs") for line in printed)
    assert printed[-1] == "Program"


PROFILE = """
model = mpconnxr.load("model.bin")
wanted = outputs(model.run(x) and model)
found = model.profile(x, runs=3)
print(outputs(model) == wanted, outputs(model.run(x) and model) == wanted)
usual = mpconnxr.load("model.bin", prefer="plain").profile(x)
numbers = [s.step for s in usual.steps if s.kernel != "read weights"]
print([s.step for s in found.steps] == numbers, len(numbers))
for s in found.steps:
    same = [u for u in usual.steps if u.step == s.step and u.kernel == s.kernel][0]
    print(s.name == same.name != "", len(s.forms) > 0)
print(found.us == sum([s.us for s in found.steps]), str(found).split()[:2])
"""


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_a_program_has_a_profile(target, stream):
    model = mixed()
    for node in model.graph.node:
        node.name = f"the {node.op_type}"
    data = convert(model).data
    printed = run(target, (data, floats(1, 2, 5, 6)), PROFILE, stream)
    assert printed[0] == "True True" and printed[1] == "True 2"
    assert printed[2:] == ["True True"] * 2 + ["True ['step', 'name']"]


METHODS = """
from mpconnxr.slices import slices

model = mpconnxr.load("model.bin")
wanted = outputs(model.run(x) and model)
model.run([0.0] * model.inputs[0].nelem)
print(outputs(model) == wanted)
parts = slices(model)
for _ in range(2):
    n = len(list(parts.run(x, 1)))
    print(outputs(model) == wanted, model._steps[0][0] > 1)
print(model.benchmark(3, x).n)
model.run(x, deadline_us=10)
print(outputs(model) == wanted)
attempt(lambda: model.kernels())
attempt(getattr, model, "nothing")
model.reset()
model.close()
attempt(model.run)
again = mpconnxr.load("model.bin")
print(outputs(again.run(x) and again) == wanted)
session = mpconnxr.InferenceSession("model.bin")
print(session.run(None, {"input_0": x})[0][0] == again.outputs[0].data[0])
"""


@pytest.mark.parametrize("stream", [False, True], ids=["in_place", "streamed"])
@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_a_program_has_a_models_methods(target, small, stream):
    printed = run(target, small, METHODS, stream)
    assert printed[:5] == ["False", "True True", "True True", "3", "True"]
    assert printed[5].startswith("UnsupportedError") and "kernels" in printed[5]
    assert printed[6].startswith("AttributeError") and "nothing" in printed[6]
    assert printed[7].startswith("MpconnxrError the model was closed")
    assert printed[8:] == ["True", "True"]
