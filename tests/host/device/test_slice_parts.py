"""Parts of a run, as run_async makes them, give the outputs of a whole run."""

import re

import pytest
from onnx import TensorProto

from tests.host.device import cases, small
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
DIGITS = small.ROOT / "examples" / "digits" / "digits.onnx"


@every_target
def test_models_compute_the_same_in_parts(target):
    """The steps are merged ones, of floats and of bytes."""
    script = """
import mpconnxr
import mpconnxr.slices
mpconnxr.slices._next = lambda items, us, wanted_us: 1
for i in range(4):
    m = mpconnxr.load(f"{i}.bin")
    x = bytes([k % 60 for k in range(m.inputs[0].nbytes)])
    whole = bytes(m.run(x)[0].view("B"))
    parts = 0
    for _ in mpconnxr.slices.slices(m).run(x, 1):
        parts += 1
    print(bytes(m.outputs[0].view("B")) == whole, len(set(whole)) > 1)
"""
    digits = small.floats(8, 1, 1, 8, 8)
    int8 = Settings(samples=[{"image": x} for x in abs(digits)])
    results = [convert(DIGITS), convert(DIGITS, Options(quantize=int8)), convert(small.mixed())]
    results.append(convert(DIGITS.parents[1] / "keywords" / "keywords.onnx"))
    kernels = {step.kernel for converted in results for step in converted.graph.steps}
    assert {"conv_max_pool", "block_gemm", "qconv"} <= kernels
    files = {f"{i}.bin": converted.data for i, converted in enumerate(results)}
    assert small.run(target, script, files).splitlines() == ["True True"] * 4


@every_target
def test_every_kernel_computes_the_same_in_parts(target):
    """Parts are single elements, the smallest there are, for node tests of smaller files."""
    script = """
import gc
import mpconnxr
import mpconnxr.slices
mpconnxr.slices._next = lambda items, us, wanted_us: 1
n = int(open("n").read())
for i in range(n):
    try:
        m = mpconnxr.load(f"{i}.bin")
    except mpconnxr.UnsupportedError:  # float64 on a firmware without
        n -= 1
        continue
    def fill():
        for k, t in enumerate(m.inputs):
            t.view("B")[:] = open(f"{i}_{k}", "rb").read()
    fill()
    whole = [bytes(t.view("B")) for t in m.run()]
    m.reset()
    fill()
    for _ in mpconnxr.slices.slices(m).run(None, 1):
        pass
    if [bytes(t.view("B")) for t in m.outputs] != whole:
        print("differs", i)
    del m, fill
    gc.collect()
print(n)
"""
    chosen = {}
    for case in cases.all_cases():
        # Draws go on from run to run, and some image files are refused.
        is_same = not case.kernels & {"random", "dropout"} and "image_decoder" not in case.name
        if case.inputs is not None and is_same and len(case.data) < 3000:
            for kernel in case.kernels:
                chosen.setdefault(kernel, []).append(case)
    picked = list({c.name: c for results in chosen.values() for c in results[:2]}.values())
    files = {"n": str(len(picked)).encode()}
    for i, case in enumerate(picked):
        files[f"{i}.bin"] = case.data
        files |= {f"{i}_{k}": raw for k, raw in enumerate(case.inputs)}
    *different, last = small.run(target, script, files).splitlines()
    names = [picked[int(line.split()[1])].name for line in different]
    assert not names
    assert len(chosen) >= 50 and int(last) > 70


@every_target
def test_open_shapes_run_in_parts(target):
    """Steps may prefer other forms, which they select during the run."""
    nodes = [
        ("NonZero", "x", "n", {}),
        ("Cast", "n", "f", {"to": TensorProto.FLOAT}),
        ("Relu", "f", "y", {}),
    ]
    proto = small.model(nodes, [small.value("x", (4,))], [small.value("y", (1, "n"))])
    script = """
import mpconnxr
from mpconnxr import forms
from mpconnxr.slices import slices
m = mpconnxr.load("m.bin", prefer=("plain",))
usual = forms.order
for x in ([1, 0, 0, 2], [0, 3, 4, 5]):
    for _ in slices(m).run(x, 5):
        pass
    print(m.outputs[0].shape, list(m.outputs[0].data), forms.order is usual)
print([form[0] for name, form in forms._loaded if name == "relu"])
print([s.kernel for s in m.profile([1, 1, 1, 1]).steps][-1], m.outputs[0].shape)
"""
    assert small.lines(target, script, m=small.binary(proto)) == [
        "(1, 2) [0.0, 3.0] True",
        "(1, 3) [1.0, 2.0, 3.0] True",
        "['plain']",
        "relu (1, 4)",
    ]


def test_parts_grow_to_half_a_slice(target):
    script = """
from mpconnxr.slices import _next
print(_next(1, 0, 2500), _next(4, 100, 2500), _next(100, 2500, 2500), _next(100, 5000, 2500))
print(_next(1, 100000, 2500), _next(1 << 20, 2500, 2500))
"""
    printed = small.lines(target, script)
    assert [int(n) for n in re.findall(r"\d+", " ".join(printed))] == [
        *(4, 16, 100, 50),
        *(1, 1 << 20),
    ]
