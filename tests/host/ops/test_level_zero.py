"""With --optimize 0 the device computes what the converter could, as onnxruntime does."""

import numpy as np
import pytest
from onnx import TensorProto, numpy_helper

from tests.host.device import small
from tests.host.ops.runtime_case import FLOAT, INT64, Case, check, f32
from tools.converter.convert import Options, convert
from tools.converter.ir import walk
from tools.converter.simplify import keep
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


def windows(op, dtype=FLOAT, **attrs):
    samples = [[np.array(n)] for n in (2, 5, 16, 9)]
    attrs["output_datatype"] = dtype
    return Case([(f"{op} x0 -> y", attrs), "Neg y -> z"], samples, {"z": dtype}, bounds={"y": 16})


def mel_weights():
    numbers = [(8, 16, 8192, 0, 4096), (10, 64, 16000, 125, 7600), (4, 32, 8000, 20, 3999)]
    kinds = (np.int64, np.int64, np.int64, np.float32, np.float32)
    samples = [[kind(v) for kind, v in zip(kinds, s, strict=True)] for s in numbers]
    nodes = ["MelWeightMatrix x0 x1 x2 x3 x4 -> y", "Relu y -> z"]
    return Case(nodes, samples, {"y": FLOAT, "z": FLOAT}, bounds={"y": 33})


def eye(k):
    nodes = [("Compress x0 x1 -> a", {"axis": 0}), ("EyeLike a -> y", {"k": k})]
    samples = [[f32(9, 5), np.arange(9) < n] for n in (4, 0, 9)]
    return Case(nodes, samples, {"y": FLOAT})


def declared_range(*sizes):
    """Return a Range whose only bound is the declared shape of the output."""
    nodes = ["Range zero x0 one -> r", "Cast r -> f", "Mul f f -> s", "Add s half -> y"]
    nodes[1] = ("Cast r -> f", {"to": FLOAT})
    samples = [[np.array(n)] for n in sizes or (6,)]
    constants = {"zero": np.array(0), "one": np.array(1), "half": np.float32([0.5])}
    return Case(nodes, samples, {"y": FLOAT}, constants, declared={"y": [6]})


def constants_only():
    """Return a model in which everything but x follows from constants."""
    two = numpy_helper.from_array(np.float32([2]))
    nodes = [
        "Shape x0 -> shape",
        "Size x0 -> size",
        ("Cast size -> n", {"to": FLOAT}),
        "Range zero three one -> r",
        "Mul r r -> rr",
        ("EyeLike x0 -> eye", {"k": -1}),
        ("ConstantOfShape shape -> c", {"value": two}),
        "Add c eye -> ce",
        "Mul ce rr -> m",
        "Add m x0 -> s",
        "Div s n -> y",
        "Shape shape -> rank",
    ]
    constants = {"zero": np.float32(0), "three": np.float32(3), "one": np.float32(1)}
    outputs = {"y": FLOAT, "shape": INT64, "rank": INT64, "rr": FLOAT, "three": FLOAT}
    return Case(nodes, [[f32(2, 3)], [f32(2, 3)]], outputs, constants)


def kernels(converted):
    return [step.kernel for step in walk(converted.graph.steps)]


@every_target
def test_sizes_may_be_data(target):
    cases = [windows(op, periodic=p) for op in ("HannWindow", "HammingWindow") for p in (0, 1)]
    cases += [windows("BlackmanWindow"), windows("BlackmanWindow", TensorProto.FLOAT16)]
    cases += [mel_weights(), eye(0), eye(2), eye(-2)]
    for shapes in check(target, cases):
        assert len(shapes) == 3 or len(shapes) == 4
    check(target, [declared_range()])


@every_target
def test_constants_are_left_to_the_device(target):
    case = constants_only()
    check(target, [case, declared_range()], optimize=0)
    kept, folded = kernels(case.converted(optimize=0)), kernels(case.converted())
    assert {"shape", "range"} <= set(kept) and not {"shape", "range"} & set(folded)
    assert len(kept) > len(folded)


def test_constants_that_decide_shapes_are_still_folded():
    nodes = ["Shape x0 -> a", "Gather a one -> b", "Concat b rest -> c", "Reshape x0 c -> y"]
    nodes[2] = ("Concat b rest -> c", {"axis": 0})
    constants = {"one": np.array([1]), "rest": np.array([-1])}
    case = Case(nodes, [[f32(4, 6)]], {"y": FLOAT}, constants)
    converted = case.converted(optimize=0)
    assert converted.graph.outputs[0].shape == (6, 4) and kernels(converted) == ["move"]


@every_target
def test_the_declared_size_is_the_maximum(target):
    last_cast = [("Range zero x0 one -> r", {}), ("Cast r -> y", {"to": FLOAT})]
    constants = {"zero": np.array(0), "one": np.array(1)}
    samples = [[np.array(n)] for n in (3, 0, 6)]
    cast = Case(last_cast, samples, {"y": FLOAT}, constants, declared={"y": [6]})
    check(target, [declared_range(3, 0, 6), cast])
    data = declared_range().converted().data
    [outcome] = run_jobs(target, [Job(data, [[np.int64([7]).tobytes()]])])
    assert outcome.error == "InputError" and "7 elements, planned for 0 to 6" in outcome.message


def declared(op, samples, shape):
    """Return an operator whose second input is a shape, with a declared output."""
    return Case([f"{op} x0 x1 -> y"], samples, {"y": FLOAT}, declared={"y": shape})


@every_target
@pytest.mark.parametrize(
    ("case", "wrong"),
    [
        (
            lambda x: declared("Reshape", [[x, np.array(s)] for s in ([3, 2], [-1, 2])], [3, 2]),
            [2, 3],
        ),
        (lambda x: declared("Reshape", [[x, np.array([0, 1, -1])]], [2, 1, 3]), [3, 1, 2]),
        (
            lambda x: declared("Expand", [[x, np.array(s)] for s in ([2, 3], [1, 1])], [2, 3]),
            [2, 2],
        ),
    ],
)
def test_a_shape_beyond_the_declared_one_is_an_input_error(target, case, wrong):
    case = case(f32(2, 3))
    check(target, [case])
    samples = [[case.raw()[0][0], np.int64(wrong).tobytes()]]
    outcome = run_jobs(target, [Job(case.converted().data, samples)])[0]
    assert outcome.error == "InputError", outcome.message


@every_target
@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((8, 16, 8192, 0, 9000), "edges beyond the spectrum"),
        ((8, 16, 8192, -800, 4000), "edges"),
        ((8, 16, 8192, float("nan"), 4000), "edges"),
        ((8, 16, 0, 0, 4000), "sizes"),
    ],
)
def test_nonsensical_mel_weights_are_an_input_error(target, values, text):
    case = mel_weights()
    kinds = (np.int64, np.int64, np.int64, np.float32, np.float32)
    raw = [np.array(v, kind).tobytes() for kind, v in zip(kinds, values, strict=True)]
    outcome = run_jobs(target, [Job(case.converted().data, [raw])])[0]
    assert outcome.error == "InputError" and text in outcome.message


def known(op, rank, *values):
    """Return a node with only constant inputs, for the device to compute."""
    constants = {f"c{i}": v for i, v in enumerate(values)}
    out = small.value("y", ["a", "b"][:rank])
    model = small.model([(op, " ".join(constants), "y", {})], [], [out], **constants)
    return convert(model, Options(strip=True, optimize=0))


@pytest.mark.slow
@every_target
def test_damaged_files_do_no_harm(target):
    edges = [np.array(v) for v in (4, 16, 8192)] + [np.float32(v) for v in (0, 4000)]
    numbers = [np.float32(v) for v in (0, 5, 1)]
    models = [known("HannWindow", 1, np.array(9)), known("MelWeightMatrix", 2, *edges)]
    models.append(known("Range", 1, *numbers))
    for i, converted in enumerate(models):
        for mode, amount in (("words", "1"), ("contents", "1")):
            report = small.damage(target, converted.data, mode, amount)
            assert report.ok and report.slowest < 10_000, f"{i}, {mode}: {report}"


def test_internal_operators_are_not_saved():
    converted = constants_only().converted(optimize=0)
    saved = keep.undeclared(converted.model)
    assert not converted.model.metadata_props
    assert [o.domain for o in saved.opset_import] == [""]
    assert len(saved.graph.node) == len(converted.model.graph.node) > 8


@every_target
def test_shapes_are_computed_without_allocation(target):
    x = f32(2, 3)
    nodes = [("Shape", "x", "s", {}), ("Size", "x", "n", {}), ("SequenceLength", "q", "k", {})]
    nodes.insert(0, ("SequenceConstruct", "x x x", "q", {}))
    outputs = [small.value(n, d, INT64) for n, d in (("s", [2]), ("n", []), ("k", []))]
    converted = convert(
        small.model(nodes, [small.value("x", x.shape)], outputs), Options(optimize=0)
    )
    assert kernels(converted) == ["shape", "shape", "given"]
    files = {"model.bin": converted.data, "x.bin": x.tobytes()}
    allocated, kept, output = small.run(target, small.SCRIPTS / "allocation.py", files).split()
    assert (allocated, kept) == ("0", "0") and np.frombuffer(
        bytes.fromhex(output), np.int64
    ).tolist() == [2, 3]


@every_target
def test_scales_may_be_float16(target):
    """The kernels divide and multiply in float32; the result has the scale's dtype."""
    f16, i8 = TensorProto.FLOAT16, TensorProto.INT8
    constants = {"s": np.float16([0.25, 0.125, 3]), "zp": np.int8([-3, 0, 7])}
    dequantize = Case(
        [("DequantizeLinear x0 s zp -> y", {"axis": 1})],
        [[np.arange(-12, 12, dtype=np.int8).reshape(2, 3, 4)]],
        {"y": f16},
        constants,
        opset=19,
    )
    quantize = Case(
        [("QuantizeLinear x0 s zp -> y", {"axis": 1})],
        [[np.linspace(-9, 9, 24).astype(np.float16).reshape(2, 3, 4)]],
        {"y": i8},
        constants,
        opset=19,
    )
    for level in (0, 2):
        check(target, [dequantize, quantize], optimize=level)
