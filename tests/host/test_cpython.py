"""Models run under CPython as under MicroPython: target cpython, and a plain import.

MPCONNXR_LONG=1: all of ONNX's backend tests except those of large networks, instead of a slice.
"""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from onnx import TensorProto, helper

from examples.digits.demo import HERE
from tests.host.device import small
from tests.host.test_conformance import failures, listed
from tools import package
from tools.conformance.cases import all_cases
from tools.conformance.prepare import prepare_all
from tools.conformance.suite import run_cases
from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import open_session
from tools.deploy.code import whole
from tools.deploy.modules import HOST, OPTIONAL, Package, device_paths
from tools.harness import Job, input_bytes, output_value, run_jobs
from tools.micropython import get_target

PACKAGE = package.folder()

LONG = os.environ.get("MPCONNXR_LONG") == "1"
EVERY = 1 if LONG else 24  # so many cases further is the next one that runs
MANY_MACS = 10_000_000  # about a second of plain loops; the networks of `light` take minutes
F = np.float32
TEXT = TensorProto.STRING


def on_both(ready_target, proto, samples, **options):
    """Return the outputs of all samples (lists of arrays) under CPython.

    `unix` must give the same bits.
    """
    converted = convert(proto, Options(strip=True, **options))
    raw = [[input_bytes(x) for x in xs] for xs in samples]
    open_shapes = [[x.shape for x in xs] for xs in samples] if "bounds" in options else ()
    job = Job(converted.data, raw, shapes=open_shapes)
    specs = [(t.dtype, t.np_dtype) for t in converted.graph.outputs]

    def runs_on(name):
        [outcome] = run_jobs(ready_target(name), [job], timeout=300)
        assert not outcome.error, (name, outcome.message)
        return [
            [output_value(b, *spec, tuple(s)) for b, s, spec in zip(*run, specs, strict=True)]
            for run in ((run.outputs, run.shapes) for run in outcome.runs)
        ]

    result, expected = runs_on("cpython"), runs_on("unix")
    assert [[bits(y) for y in run] for run in result] == [
        [bits(y) for y in run] for run in expected
    ]
    return result


def bits(y):
    return y.shape, y.tolist() if y.dtype.kind == "O" else y.tobytes()


def agrees(ready_target, proto, samples, atol=1e-5, **options):
    """Compare with onnxruntime's outputs, strings and integers exactly."""
    session = open_session(proto)
    for xs, got in zip(samples, on_both(ready_target, proto, samples, **options), strict=True):
        want = session.run(None, dict(zip(session.inputs, xs, strict=True)))
        for a, b in zip(got, want, strict=True):
            assert a.shape == b.shape
            if a.dtype.kind == "f":
                np.testing.assert_allclose(a, b, rtol=1e-5, atol=atol)
            else:
                assert a.tolist() == b.tolist()


def test_float_models_agree(ready_target):
    agrees(ready_target, small.mixed(), [[small.floats(1, 2, 5, 6, seed=s)] for s in range(3)])


def test_integer_models_agree(ready_target):
    """Models use bytes, and words that wrap around."""
    rng = np.random.default_rng(1)
    scale, zero = np.array(0.05, F), np.array(3, np.int8)
    inputs = [
        small.value("x", (2, 16), TensorProto.INT8),
        small.value("n", (4,), TensorProto.INT32),
    ]
    outputs = [
        small.value("y", (2, 8), TensorProto.INT8),
        small.value("m", (4,), TensorProto.INT32),
    ]
    nodes = [("QLinearMatMul", "x s z w s z t z", "y", {}), ("Mul", "n n", "m", {})]
    w = rng.integers(-128, 128, (16, 8), np.int8)
    proto = small.model(nodes, inputs, outputs, s=scale, z=zero, w=w, t=np.array(0.8, F))
    words = np.array([-(1 << 31), (1 << 31) - 1, 65537, -5], np.int32)
    samples = [[rng.integers(-128, 128, (2, 16), np.int8), words + k] for k in range(2)]
    agrees(ready_target, proto, samples)


def test_string_models_agree(ready_target):
    def encode(out, **attributes):
        return helper.make_node("LabelEncoder", ["x"], [out], domain="ai.onnx.ml", **attributes)

    keys = {"keys_strings": ["a", "é"]}
    texts = encode("u", **keys, values_strings=["日本", ""], default_string="other")
    numbers = encode("y", **keys, values_int64s=[7, -7], default_int64=-1)
    outputs = [small.value("u", (3,), TEXT), small.value("y", (3,), TensorProto.INT64)]
    proto = small.model([texts, numbers], [small.value("x", (3,), TEXT)], outputs)
    agrees(ready_target, proto, [[np.array(["a", "é", "b"], object)]])


def test_open_shapes_agree(ready_target):
    nodes = [("MatMul", "x w", "h", {}), ("Softmax", "h", "y", {"axis": 0})]
    ends = [small.value("x", ("n", 5))], [small.value("y", ("n", 3))]
    proto = small.model(nodes, *ends, w=small.floats(5, 3))
    samples = [[small.floats(n, 5, seed=n)] for n in (1, 4, 2)]
    agrees(ready_target, proto, samples, bounds={"n": 4})


def test_state_is_carried_between_runs(ready_target):
    nodes = [("Add", "x s", "y", {}), ("Identity", "y", "n", {})]
    names = ("x", "s"), ("y", "n")
    proto = small.model(nodes, *([small.value(n, (2,)) for n in group] for group in names))
    session, s = open_session(proto), np.zeros(2, F)
    samples = [[small.floats(2, seed=k)] for k in range(5)]
    runs = on_both(ready_target, proto, samples, state={"s": "n"})
    for [x], [y, *_] in zip(samples, runs, strict=True):
        s, _ = session.run(None, {"x": x, "s": s})
        assert y.tolist() == s.tolist()


API = """
import asyncio, sys
import mpconnxr
from mpconnxr import golden

model = mpconnxr.load("digits.bin")
x = [0.25] * 64
y = bytes(model.run(x)[0].view("B"))
print(model._stream is not None, all("plain" in s.forms for s in model.profile(x).steps[1:2]))
data = open("digits.bin", "rb").read()
for other in (mpconnxr.load("digits.bin", stream=False), mpconnxr.load(data)):
    print(bytes(other.run(x)[0].view("B")) == y)
print(bytes(asyncio.run(model.run_async(x, slice_ms=1))[0].view("B")) == y)
print(model.benchmark(2, x).n, bytes(model.run(x, deadline_us=10)[0].view("B")) == y)
model.reset()
best = mpconnxr.top_k(model.run(x)[0], 2)
print(best[0][1] >= best[1][1], golden.verify("digits.bin").ok)
try:
    mpconnxr.load("digits.bin", arena=bytearray(16))
except mpconnxr.ArenaError as e:
    print(e.available)
"""


@pytest.fixture(scope="session")
def digits(tmp_path_factory):
    """Return a folder with digits.bin, converted from the example's .onnx."""
    folder = tmp_path_factory.mktemp("digits")
    (folder / "digits.bin").write_bytes(convert(HERE / "digits.onnx").data)
    return folder


def python(folder, *arguments, stdin=""):
    """Return what Python prints in a folder, with the project's folder in its path."""
    completed = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(package.ROOT)},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout


def test_the_api_works_under_cpython(digits):
    printed = python(digits, "-c", API).split("\n")
    assert printed[:-1] == ["True True", "True", "True", "True", "2 True", "True True", "16"]


def test_a_debugger_shows_what_the_page_says(digits):
    """Runs the program and commands of docs/run.md, and compares pdb's answers."""
    page = (package.ROOT / "docs" / "run.md").read_text()
    _, program, session = re.split(r"\$ cat try.py\n|\$ python -m pdb try.py\n", page)
    (digits / "try.py").write_text(program)
    shown, commands = [], []
    for line in session.split("```")[0].splitlines():
        is_command = line.startswith("(Pdb) ")
        (commands if is_command else shown).append(line.removeprefix("(Pdb) "))
    answers = python(digits, "-m", "pdb", "try.py", stdin="\n".join([*commands, "q"]) + "\n")
    for folder in (digits, package.ROOT):
        answers = answers.replace(f"{folder}{os.sep}", "…/")
    assert plain(answers.replace("(Pdb) ", "")) == plain("\n".join(shown))


def plain(text):
    """Return the text without addresses, as lines."""
    return re.sub("0x[0-9a-f]+", "0x", text).strip().splitlines()


@pytest.mark.slow
def test_no_board_gets_the_host_modules(tmp_path):
    """This covers flash.py, mip and a manifest."""
    assert {"blocks", "cpython"} == HOST and (PACKAGE / "cpython.py").is_file()
    code = Package()
    kernels = code.kernels()
    chosen = [
        *code.files_for(kernels),
        *code.loaded_for(kernels, OPTIONAL, (1,), lambda family, forms: [*forms.values()]),
        *code.paths(),
        *device_paths(),
    ]
    assert len(chosen) > 500 and PACKAGE / "cpython.py" not in chosen
    assert "mpconnxr/cpython.py" not in whole(code, None)


def test_micropython_never_imports_the_host_modules(target):
    """A package without them works."""
    files = {f"mpconnxr/{p.relative_to(PACKAGE).as_posix()}": p for p in device_paths()}
    script = "import mpconnxr.forms, sys\nprint('mpconnxr.cpython' in sys.modules)"
    completed = target.run(script, files=files)
    assert (completed.stdout, completed.stderr) == ("False\n", "")


@pytest.mark.slow
def test_conformance_cases_pass():
    """The same cases pass as on `unix`."""
    cases = [case for case in all_cases() if case.id not in failures()][::EVERY]
    prepared = prepare_all(cases)
    pairs = [(c, p) for c, p in zip(cases, prepared, strict=True) if p.macs < MANY_MACS]
    assert len(pairs) > len(cases) - 12
    rows = run_cases(*zip(*pairs, strict=True), get_target("cpython"))
    wrong = [row for row in rows if not row.passed]
    assert not wrong, listed(wrong)
