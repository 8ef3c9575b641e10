"""Inputs whose shape each run decides (--bound DIM=N), against onnxruntime."""

import json

import numpy as np
import onnx
import pytest
from onnx import TensorProto

from tests.host import zoo
from tests.host.device import small
from tools.converter import pipeline
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel, UsageError
from tools.converter.quantize.settings import Settings
from tools.converter.reference.ort_session import open_session
from tools.converter.shapes import extent_forms
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
F = np.float32


def agrees(target, source, samples, **bounds):
    """Check that one conversion gives onnxruntime's outputs for all samples (lists of arrays)."""
    converted = convert(source, Options(bounds=bounds, strip=True))
    is_path = not hasattr(source, "SerializeToString")
    session = open_session(onnx.load(source) if is_path else source)
    raw = [[x.tobytes() for x in xs] for xs in samples]
    job = Job(converted.data, raw, shapes=[[x.shape for x in xs] for xs in samples])
    [outcome] = run_jobs(target, [job], timeout=300)
    assert not outcome.error, outcome.message
    for xs, run in zip(samples, outcome.runs, strict=True):
        want = session.run(None, dict(zip(session.inputs, xs, strict=True)))
        for bytes_, shape, t, y in zip(
            run.outputs, run.shapes, converted.graph.outputs, want, strict=True
        ):
            assert tuple(shape) == y.shape
            got = np.frombuffer(bytes_, t.np_dtype).reshape(y.shape)
            largest = np.abs(y).max(initial=1e-6)
            np.testing.assert_allclose(got, y, rtol=1e-5, atol=2e-6 * largest)
    return converted


@zoo.needs_zoo
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize(
    ("name", "bounds", "shapes"),
    [
        ("gesture_lstm_dynaxes_f32", {"time": 40}, [(1, 40, 3), (1, 1, 3), (1, 17, 3)]),
        ("digits_cnn_dynbatch_f32", {"batch": 3}, [(1, 1, 8, 8), (3, 1, 8, 8), (2, 1, 8, 8)]),
        (
            "transformer_tiny_op13_dynaxes_f32",
            {"batch": 2, "time": 20},
            [(2, 3, 3), (1, 20, 3), (2, 7, 3)],
        ),
    ],
)
def test_real_models_run_with_open_inputs(target, name, bounds, shapes):
    samples = [[small.floats(*shape, seed=i)] for i, shape in enumerate(shapes)]
    agrees(target, zoo.model_path(name), samples, **bounds)


def two_inputs():
    """Return rows of a and b side by side, normalized, and the mean over all of them."""
    nodes = [
        ("Concat", "a b", "c", {"axis": 1}),
        ("Softmax", "c", "y", {"axis": 1}),
        ("Transpose", "y", "t", {"perm": [1, 0]}),
        ("ReduceMean", "t", "m", {"axes": [1], "keepdims": 0}),
        ("Shape", "a", "s", {}),
    ]
    inputs = [small.value("a", ("n", 2)), small.value("b", ("n", "k"))]
    outputs = [small.value("t", ("w", "n")), small.value("m", ("w",))]
    return small.model(nodes, inputs, [*outputs, small.value("s", (2,), TensorProto.INT64)])


@every_target
def test_two_inputs_may_share_an_open_size(target):
    samples = [
        [small.floats(n, 2, seed=n), small.floats(n, k, seed=k)] for n, k in ((5, 1), (1, 4))
    ]
    agrees(target, two_inputs(), samples, n=5, k=4)


def recurrent(op):
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
    node = (op, "x w r b", "y h", {"hidden_size": 4, "direction": "bidirectional"})
    constants = {
        "w": small.floats(2, 4 * gates, 3, seed=1),
        "r": small.floats(2, 4 * gates, 4, seed=2),
        "b": small.floats(2, 8 * gates, seed=3),
    }
    outputs = [small.value("y", ("t", 2, "b", 4)), small.value("h", (2, "b", 4))]
    return small.model([node], [small.value("x", ("t", "b", 3))], outputs, **constants)


@every_target
@pytest.mark.parametrize("op", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_run_over_open_time_and_batch(target, op):
    shapes = [(6, 2, 3), (1, 1, 3), (3, 2, 3)]
    samples = [[small.floats(*s, seed=i)] for i, s in enumerate(shapes)]
    agrees(target, recurrent(op), samples, t=6, b=2)


def sounds():
    """Return a network over time: convolutions, pools, a layer behind a global pool."""
    nodes = [
        ("Conv", "x w b", "c", {"pads": [1, 1]}),
        ("Relu", "c", "r", {}),
        ("MaxPool", "r", "p", {"kernel_shape": [2], "strides": [2], "ceil_mode": 1}),
        ("Conv", "p v", "d", {"strides": [2], "dilations": [2], "pads": [2, 2], "group": 2}),
        ("AveragePool", "d", "a", {"kernel_shape": [3], "pads": [1, 1]}),
        ("GlobalAveragePool", "a", "g", {}),
        ("Flatten", "g", "f", {}),
        ("Gemm", "f m", "y", {}),
    ]
    constants = {"w": (4, 3, 3), "b": (4,), "v": (6, 2, 3), "m": (6, 5)}
    arrays = {
        name: small.floats(*shape, seed=i) for i, (name, shape) in enumerate(constants.items())
    }
    outputs = [small.value("y", ("b", 5)), small.value("a", ("b", 6, "t2"))]
    return small.model(nodes, [small.value("x", ("b", 3, "t"))], outputs, **arrays)


@every_target
def test_convolutions_run_over_open_time(target):
    shapes = [(1, 3, 90), (2, 3, 7), (1, 3, 1), (2, 3, 64)]
    samples = [[small.floats(*s, seed=i)] for i, s in enumerate(shapes)]
    agrees(target, sounds(), samples, b=2, t=90)


@every_target
@pytest.mark.parametrize("free", ["h", "w", "hw"])
def test_images_may_have_any_size(target, free):
    nodes = [
        ("Conv", "x w", "c", {"auto_pad": "SAME_UPPER"}),
        ("MaxPool", "c", "y i", {"kernel_shape": [2, 3], "strides": [2, 1], "dilations": [1, 2]}),
    ]
    size = ["h" if "h" in free else 6, "w" if "w" in free else 7]
    integers = TensorProto.INT64
    outputs = [small.value("y", (1, 4, "m", "n")), small.value("i", (1, 4, "m", "n"), integers)]
    inputs = [small.value("x", (1, 2, *size))]
    proto = small.model(nodes, inputs, outputs, w=small.floats(4, 2, 3, 2))
    shapes = {
        (1, 2, h if "h" in free else 6, w if "w" in free else 7) for h, w in ((9, 8), (2, 5))
    }
    samples = [[small.floats(*s, seed=i)] for i, s in enumerate(sorted(shapes))]
    agrees(target, proto, samples, **dict.fromkeys(free, 9))


def test_an_unsupported_open_dim_names_the_option():
    nodes = [("Resize", "x none s", "y", {})]
    inputs, outputs = [small.value("x", (1, 1, "n"))], [small.value("y", (1, 1, "m"))]
    constants = {"none": np.zeros(0, F), "s": np.array([1, 1, 1.5], F)}
    with pytest.raises(UnsupportedModel, match="--dim instead of --bound"):
        convert(small.model(nodes, inputs, outputs, **constants), Options(bounds={"n": 3}))


def relu():
    nodes = [("Relu", "x", "y", {})]
    return small.model(nodes, [small.value("x", ("n", 2))], [small.value("y", ("n", 2))])


@every_target
def test_a_shape_follows_from_values_or_is_set(target):
    script = """
import mpconnxr
from array import array
m = mpconnxr.load("m.bin")
t = m.inputs[0]
print(t.shape, list(t.data))
values = array("f", [1, -2, 3, -4])
for x in ([[1, -2], [3, -4]], [1, -2, 3, -4], values, bytes(values), (values, (2, 2)),
          (memoryview(bytes(values)), (2, 2)), ([1, -2], (1, 2)), {"x": [[5, 6]]},
          ((1, 2), (3, 4))):
    y = m.run(x)[0]
    print(y.shape, list(y.data))
t.set_shape((3, 2))
for i in range(6):
    t.data[i] = i - 3
print(list(m.run()[0].data))
"""
    data = convert(relu(), Options(bounds={"n": 3})).data
    four = "(2, 2) [1.0, 0.0, 3.0, 0.0]"
    expected = ["(0, 2) []"] + [four] * 6 + ["(1, 2) [1.0, 0.0]", "(1, 2) [5.0, 6.0]"]
    expected += ["(2, 2) [1.0, 2.0, 3.0, 4.0]", "[0.0, 0.0, 0.0, 0.0, 1.0, 2.0]"]
    assert small.lines(target, script, m=data) == expected


@every_target
def test_shapes_that_do_not_fit_are_refused(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
def attempt(f, *x):
    try:
        f(*x)
    except mpconnxr.InputError as e:
        print(e)
attempt(m.run)
for x in ([], [1] * 3, [[1, 2]] * 4, [[1, 2, 3]], [[[1, 2]]], 5):
    attempt(m.run, x)
for shape in ((2, 1), (2, 2)):
    attempt(m.run, ([1, 2], shape))
two = mpconnxr.load("two.bin")
attempt(two.run, [[[1, 2]] * 2, [[1]] * 3])
attempt(two.run, [[[1, 2]] * 2, [1, 2, 3]])
two.inputs[0].set_shape((2, 2))
attempt(two.run)
"""
    m = convert(relu(), Options(bounds={"n": 3})).data
    two = convert(two_inputs(), Options(bounds={"n": 5, "k": 4})).data
    expected = "where (1 to 3, 2) is needed (--bound)"
    assert small.lines(target, script, m=m, two=two) == [
        "x: give its values to run(), or set_shape()",
        f"x: shape (0, 2) {expected}",
        "x: 3 values in a row: give (values, shape)",
        f"x: shape (4, 2) {expected}",
        f"x: shape (1, 3) {expected}",
        f"x: shape (1, 1, 2) {expected}",
        f"x: shape () {expected}",
        f"x: shape (2, 1) {expected}",
        "x: 2 values where float32 (2, 2) are needed",
        "a: shape (2, 2) does not go with another input's",
        "b: 3 values in a row: give (values, shape)",
        "b: shape (3, 1) does not go with another input's",
    ]


@pytest.mark.slow
@every_target
@pytest.mark.parametrize("mode", [("bits", "3"), ("words", "1"), ("several", "500")])
def test_damaged_files_do_no_harm(target, mode):
    data = convert(two_inputs(), Options(bounds={"n": 5, "k": 4}, strip=True)).data
    report = small.damage(target, data, *mode)
    assert report.ok and report.refused > 100 and report.ran > 20, report


def test_conflicting_names_and_options_are_refused():
    with pytest.raises(UsageError, match="no input has a dim q"):
        convert(relu(), Options(bounds={"n": 3, "q": 2}))
    with pytest.raises(UnsupportedModel, match="--bound NAME=MOST lets each run decide"):
        convert(two_inputs(), Options(dims={"n": 3}))
    with pytest.raises(UsageError, match="--dim instead of --bound"):
        convert(relu(), Options(bounds={"n": 3}, quantize=Settings()))


def test_a_rewrite_that_freezes_an_open_size_is_found(monkeypatch):
    """The rewrite writes the bound in place of the size."""

    def careless(state):
        for model in (state.model, state.twin):
            bound = model.graph.output[0].type.tensor_type.shape.dim[0]
            bound.dim_value = int(extent_forms.parsed(bound.dim_param))

    passes = list(pipeline.PASSES)
    at = [one.name for one in passes].index("lower")
    passes.insert(at, pipeline.Pass(careless, "optimize"))
    monkeypatch.setattr(pipeline, "PASSES", passes)
    with pytest.raises(UnsupportedModel, match="cannot follow a run-time extent"):
        convert(relu(), Options(bounds={"n": 3}))


def test_the_file_and_the_report_show_open_dims(tmp_path, capsys):
    from tools.converter import __main__ as main

    path, binary = tmp_path / "m.onnx", tmp_path / "m.bin"
    path.write_bytes(relu().SerializeToString())
    assert main.main([str(path), str(binary), "--bound", "n=3", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["inputs"][0]["shape"] == ["n", 2]
    assert any("no test vector" in note for note in report["notes"])
    assert main.main(["inspect", str(binary)]) == 0
    assert "[d0, 2]" in capsys.readouterr().out
