"""Nodes that need exponents for each row or channel give float64's values on a board."""

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.host.converter.numbers import wide_models
from tests.host.converter.numbers.test_wide import BOUND, in_float64, on_device
from tests.host.device import small
from tools.converter.context import PLAIN
from tools.converter.convert import Options, convert
from tools.converter.numbers import refinements
from tools.converter.quantize.activations import each_run
from tools.converter.reference.ort_session import open_session

pytest.importorskip("onnxruntime")

KINDS = ("Conv", "ConvTranspose", "Gemm", "MatMul")
TARGETS = ("unix", "unix32")
MS = "com.microsoft"


def products_of(converted):
    return {step.kernel for step in converted.graph.steps if step.macs}


def check(target, model, converted, x):
    """Check that the output is that of float64, each element that is not near 0."""
    expected = in_float64(model, x).ravel()
    got = on_device(target, converted, x)
    assert np.abs(got - expected).max() <= BOUND * np.abs(expected).max()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TARGETS)
def test_features_of_different_units_are_scaled_by_channel(ready_target, name, kind):
    model, x = wide_models.features(kind)
    converted = convert(model, Options(strip=True, golden=[x]))
    assert products_of(converted) <= {"block_conv", "block_gemm"}
    assert [
        n for n in converted.notes if n.startswith("mixed: each channel times a power of two;")
    ]
    check(ready_target(name), model, converted, x)


@pytest.mark.parametrize("name", TARGETS)
def test_spikes_are_computed_in_a_part_of_their_own(ready_target, name):
    model, x = wide_models.spikes()
    converted = convert(model, Options(strip=True, golden=[x]))
    assert products_of(converted) == {"block_conv"}
    assert [n for n in converted.notes if n.startswith("spiked: in two parts;")]
    check(ready_target(name), model, converted, x)
    few = np.minimum(x, 1.5)  # other values than those that it was made for
    check(ready_target(name), model, converted, few)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
def test_infinities_and_nan_stay(ready_target, value):
    model, x = wide_models.spikes()
    converted = convert(model, Options(strip=True, golden=[x]))
    other = x.copy()
    other[0, 0, 2, 2] = value
    [expected] = open_session(model).run(None, {"x": other})
    got = on_device(ready_target("unix"), converted, other).reshape(expected.shape)
    assert np.array_equal(np.isnan(got), np.isnan(expected))
    assert np.array_equal(np.isposinf(got), np.isposinf(expected))


def test_nodes_with_wide_values_stay_exact_in_fast16():
    model, x = wide_models.features("Conv")
    converted = convert(model, Options(strip=True, golden=[x], float="fast16"))
    kinds = {step.inputs[1].dtype for step in converted.graph.steps if step.macs}
    assert kinds == {onnx.TensorProto.INT32}


def node_model(node, x, w, others, shape):
    """Return a model of one node that reads the input x, the constant w and the others by name."""
    infos = [small.value("x", x.shape)], [small.value("y", shape)]
    return small.model([node], *infos, w=w, **others)


def floats(*shape):
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


CLIP = {"activation": "Clip", "activation_params": [-0.5, 0.75]}
LEAKY = {"activation": "LeakyRelu", "activation_params": [0.25]}
CASES = [
    ("Conv", "", {"group": 2, "pads": [1, 0, 1, 0]}, floats(1, 4, 5, 5), floats(6, 2, 3, 3), (6,)),
    ("ConvTranspose", "", {"group": 2}, floats(1, 4, 3, 3), floats(4, 3, 2, 2), (6,)),
    ("FusedConv", MS, CLIP, floats(1, 4, 3, 3), floats(2, 4, 3, 3), (2,)),
    ("FusedConv", MS, LEAKY, floats(1, 4, 3, 3), floats(2, 4, 1, 1), (2,), (1, 2, 3, 3)),
    ("Gemm", "", {"transA": 1, "transB": 1, "alpha": 0.5}, floats(4, 3), floats(5, 4), (5,)),
    ("Gemm", "", {"beta": 2.0}, floats(3, 4), floats(4, 5), (3, 5)),
    (
        "FusedGemm",
        MS,
        {"activation": "HardSigmoid", "activation_alpha": 0.3, "activation_beta": 0.4},
        floats(3, 4),
        floats(4, 5),
        (5,),
    ),
    ("MatMul", "", {}, floats(2, 3, 4), floats(2, 4, 5)),
    ("MatMul", "", {}, floats(4), floats(4, 5)),
    ("FusedMatMul", MS, {"transA": 1, "transB": 1, "alpha": 0.5}, floats(2, 4, 3), floats(5, 4)),
]


@pytest.mark.parametrize("case", CASES, ids=[f"{i} {c[0]}" for i, c in enumerate(CASES)])
def test_every_form_computes_the_values_of_the_node(case):
    kind, domain, attrs, x, w, *others = case
    names = ("b", "z")[: len(others)]
    node = helper.make_node(kind, ["x", "w", *names], ["y"], domain=domain, name="n", **attrs)
    others = dict(zip(names, (floats(*shape) for shape in others), strict=True))
    channels = 1 if "Conv" in kind else (x.ndim - 2 if attrs.get("transA") else x.ndim - 1)
    sizes = 4.0 ** np.arange(4)
    x = np.float32(x * sizes.reshape(-1, *[1] * (x.ndim - 1 - channels)))
    model = node_model(node, x, w, others, None)
    [values] = each_run(model, [{"x": x}])
    values |= {"w": w, **others}
    forms = list(refinements.refinements_of(node, [values]))
    assert len(forms) == 3
    for form in forms:
        changed = refinements.refined(model, {"y": form}, PLAIN)
        assert len(changed.graph.node) > 1 and changed.graph.output[0].name == "y"
        [got] = open_session(changed).run(None, {"x": x})
        assert np.abs(got - values["y"]).max() <= 1e-6 * np.abs(values["y"]).max()


def test_every_form_accepts_a_computed_second_operand():
    a, b = floats(2, 3, 4) * np.float32([1, 1e4, 1e-4, 1]), floats(2, 4, 5)
    node = helper.make_node("MatMul", ["x", "b"], ["y"], name="n")
    infos = [small.value("x", a.shape), small.value("b", b.shape)], [small.value("y", None)]
    model = small.model([node], *infos)
    [values] = each_run(model, [{"x": a, "b": b}])
    for form in refinements.refinements_of(node, [values]):
        changed = refinements.refined(model, {"y": form}, PLAIN)
        [got] = open_session(changed).run(None, {"x": a, "b": b})
        assert np.abs(got - values["y"]).max() <= 1e-6 * np.abs(values["y"]).max()
