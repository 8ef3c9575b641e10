"""Golden vectors have the tolerance that the options promise: docs/deploy.md, "What is right"."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.file import writer
from tools.converter.reference import golden
from tools.converter.reference.tolerance import Tolerance
from tools.converter.reference.vector import vector_of
from tools.format import layout

DIGITS = small.ROOT / "examples" / "digits" / "digits.onnx"
VERIFY = """
from mpconnxr import golden
for name in NAMES:
    r = golden.verify(name + ".bin")
    print(name, r.ok, r.max_error / r.largest > 1e-4)
"""
F, U8, I64 = TensorProto.FLOAT, TensorProto.UINT8, TensorProto.INT64


def verified(target, **files):
    return small.lines(target, f"NAMES = {[*files]}{VERIFY}", **files)


def quantized(tail, dtype=F, shape=(1, 6)) -> onnx.ModelProto:
    """Return a quantized product with a tail of more nodes to y.

    The product is quantized to the uint8 value q, with scale s = 0.25.
    """
    rng = np.random.default_rng(3)
    nodes = [
        ("QuantizeLinear", "x xs zp", "xq", {}),
        ("DequantizeLinear", "xq xs zp", "xd", {}),
        ("DequantizeLinear", "w ws wz", "wd", {}),
        ("MatMul", "xd wd", "m", {}),
        ("QuantizeLinear", "m s zp", "q", {}),
        *tail,
    ]
    constants = {
        "w": rng.integers(-99, 99, (8, 6)).astype(np.int8),
        "wz": np.int8(0),
        "ws": np.float32(0.01),
        "xs": np.float32(0.02),
        "s": np.float32(0.25),
        "zp": np.uint8(128),
    }
    x, y = small.value("x", (1, 8)), small.value("y", shape, dtype)
    return small.model(nodes, [x], [y], **{k: np.asarray(v) for k, v in constants.items()})


def bound_of(model):
    x = np.random.default_rng(5).uniform(-2, 2, (1, 8)).astype(np.float32)
    outputs = golden.named_reference(model, [x])
    [bound] = Tolerance(model, 1e-4).bounds({"x": x}, outputs)
    return bound, float(np.abs(outputs[0][1].astype(np.float64)).max())


DEQUANTIZE = ("DequantizeLinear", "q s zp", "d", {})


def test_integers_may_be_a_step_off():
    bound, _ = bound_of(quantized([("Identity", "q", "y", {})], U8))
    assert bound.least == 1.0 and bound.most in (1.0, 2.0)


def test_floats_of_integers_may_be_a_scale_off():
    tail = [DEQUANTIZE, ("Reshape", "d to", "y", {})]
    model = quantized(tail, shape=(2, 3))
    model.graph.initializer.append(numpy_helper.from_array(np.array([2, 3]), "to"))
    bound, largest = bound_of(model)
    assert bound.least == pytest.approx(0.25 + 1e-4 * largest)
    assert bound.most <= 0.5 + 1e-4 * largest


def test_the_effect_of_a_step_is_measured():
    """One step of a softmax's argument changes a score by at most a quarter of it."""
    bound, largest = bound_of(quantized([DEQUANTIZE, ("Softmax", "d", "y", {})]))
    assert bound.least == pytest.approx(1e-4 * largest)
    assert bound.least < bound.most <= 2 * 0.25 / 2


def test_labels_are_exact():
    tail = [DEQUANTIZE, ("ArgMax", "d", "y", {"axis": 1})]
    bound, _ = bound_of(quantized(tail, I64, (1, 1)))
    assert bound == (0.0, 0.0)


def test_integers_cast_from_floats_have_a_relative_tolerance():
    nodes = [("Mul", "x k", "m", {}), ("Cast", "m", "y", {"to": I64})]
    x, y = small.value("x", (1, 8)), small.value("y", (1, 8), I64)
    model = small.model(nodes, [x], [y], k=np.float32(30000))
    bound, largest = bound_of(model)
    assert bound.most == int(1e-4 * largest) > 0


def with_vector_of(converted, right):
    """Return a model's file with the golden vector of another model."""
    vector = vector_of(right, converted.graph, "exact", None, {})
    data = golden.chunk(vector.inputs, vector.values, vector.bounds)
    extra = [(layout.CHUNK_GOLDEN, data)]
    return writer.model_bytes(converted.graph, converted.plan.arena_bytes, extra)


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_the_promised_tolerance_passes_and_a_changed_weight_fails(target):
    right = quantized([DEQUANTIZE, ("Identity", "d", "y", {})])
    wrong = onnx.ModelProto()
    wrong.CopyFrom(right)
    [w] = [t for t in wrong.graph.initializer if t.name == "w"]
    changed = numpy_helper.to_array(w).copy()
    changed[7, 0] *= -1
    w.CopyFrom(numpy_helper.from_array(changed, "w"))
    short = Options(float="fast16")
    digits = onnx.load(DIGITS)
    first = next(t for t in digits.graph.initializer if len(t.dims) == 4)
    weights = numpy_helper.to_array(first).copy()
    weights.ravel()[np.abs(weights).argmax()] *= -1
    first.CopyFrom(numpy_helper.from_array(weights, first.name))
    files = {
        "right": convert(right).data,
        "wrong": with_vector_of(convert(wrong), right),
        "fast16": convert(DIGITS, short).data,
        "changed": with_vector_of(convert(digits, short), onnx.load(DIGITS)),
    }
    results = dict(line.split(" ", 1) for line in verified(target, **files))
    assert results["right"].startswith("True")
    assert results["fast16"] == "True True"
    assert results["wrong"].startswith("False") and results["changed"].startswith("False")


def test_random_inputs_distinguish_the_classes():
    """One step, or its effect on a score, does not change the class of the golden vector."""
    model = quantized([DEQUANTIZE, ("Softmax", "d", "y", {})])
    vector = vector_of(model, convert(model).graph, "exact", None, {})
    scores = np.sort(vector.values[0].ravel())
    assert 2 * vector.bounds[0] < scores[-1] - scores[-2]


@pytest.mark.parametrize(
    "keys", [{"classlabels_int64s": range(6)}, {"classlabels_strings": "abcdef"}]
)
def test_maps_move_as_the_values_in_them(keys):
    plain, _ = bound_of(
        quantized([("DequantizeLinear", "q s zp", "z", {}), ("Sigmoid", "z", "y", {})])
    )
    model = quantized([("DequantizeLinear", "q s zp", "z", {}), ("Sigmoid", "z", "p", {})])
    of_maps = {name: [*map(int, k)] if "int" in name else [*k] for name, k in keys.items()}
    model.graph.node.append(
        helper.make_node("ZipMap", ["p"], ["y"], domain="ai.onnx.ml", **of_maps)
    )
    model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 1))
    kind = TensorProto.INT64 if "classlabels_int64s" in keys else TensorProto.STRING
    row = helper.make_map_type_proto(kind, helper.make_tensor_type_proto(F, ()))
    model.graph.output[0].CopyFrom(
        helper.make_value_info("y", helper.make_sequence_type_proto(row))
    )
    x = np.random.default_rng(5).uniform(-2, 2, (1, 8)).astype(np.float32)
    [bound] = Tolerance(model, 1e-4).bounds({"x": x}, golden.named_reference(model, [x]))
    assert bound == plain and plain.most > plain.least
