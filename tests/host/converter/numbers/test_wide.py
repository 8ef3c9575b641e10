"""Products leave block floating point only if blocks lose more than float32 does."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, reference

from tests.host.converter.numbers import wide_models
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.numbers.block_loss import Loss
from tools.converter.quantize.activations import each_run
from tools.converter.reference import golden
from tools.harness import Job, run_jobs

ort = pytest.importorskip("onnxruntime")

BOUND = 2e-5  # of the largest magnitude, as of the models of the collection


def in_float64(model, x) -> np.ndarray:
    """Return the first output, computed in float64 throughout."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    for t in copy.graph.initializer:
        t.CopyFrom(numpy_helper.from_array(np.float64(numpy_helper.to_array(t)), t.name))
    for info in (*copy.graph.input, *copy.graph.output):
        info.type.tensor_type.elem_type = onnx.TensorProto.DOUBLE
    del copy.graph.value_info[:]
    return reference.ReferenceEvaluator(copy).run(None, {"x": np.float64(x)})[0]


def on_device(target, converted, x) -> np.ndarray:
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes()]])])
    assert not outcome.error, outcome.message
    return np.frombuffer(outcome.runs[0].outputs[0], np.float32)


def products_of(converted):
    kinds = ("conv", "gemm", "block_conv", "block_gemm")
    return {step.kernel for step in converted.graph.steps if step.kernel in kinds}


@pytest.mark.parametrize("gain", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("dark", [0.0, 5.0, 10.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_autoencoder_leaves_the_blocks(gain, dark, seed):
    converted = convert(wide_models.autoencoder(gain, dark, seed), Options(strip=True))
    assert products_of(converted) == {"block_conv"}
    assert not [note for note in converted.notes if "floats" in note]


@pytest.mark.parametrize(("gain", "dark"), [(1.0, 10.0), (1.0, 0.0), (0.3, 5.0)])
def test_the_autoencoders_output_is_near_float64(ready_target, gain, dark):
    model = wide_models.autoencoder(gain, dark)
    converted = convert(model, Options(strip=True))
    [x] = golden.random_values(converted.graph.inputs)
    expected = in_float64(model, x).ravel()
    got = on_device(ready_target("unix"), converted, x)
    assert np.abs(got - expected).max() <= BOUND * np.abs(expected).max()


def random_product(rng):
    """Return a model of one convolution with random attributes; None if they do not fit."""
    rank, groups = int(rng.integers(1, 4)), int(rng.choice([1, 2]))
    c, m = (groups * int(n) for n in rng.integers(1, 3, 2))
    kernel, strides = ([int(n) for n in rng.integers(1, 4, rank)] for _ in range(2))
    kind = str(rng.choice(["Conv", "ConvTranspose"]))
    is_transposed = kind == "ConvTranspose"
    shape = (c, m // groups, *kernel) if is_transposed else (m, c // groups, *kernel)
    attrs = {"strides": strides, "group": groups, "name": "product"}
    attrs["dilations"] = [int(n) for n in rng.integers(1, 3, rank)]
    which = rng.choice(["auto", "pads", "none"])
    if which == "auto":
        attrs["auto_pad"] = str(rng.choice(["SAME_UPPER", "SAME_LOWER", "VALID"]))
    elif which == "pads":
        attrs["pads"] = [int(n) for n in rng.integers(0, 3, 2 * rank)]
        if is_transposed:
            attrs["output_padding"] = [min(1, stride - 1) for stride in strides]
    x = rng.standard_normal((2, c, *rng.integers(6, 9, rank))).astype(np.float32)
    constants = {"w": rng.standard_normal(shape), "b": rng.standard_normal(m)}
    constants = {name: np.float32(values) for name, values in constants.items()}
    inputs, outputs = [small.value("x", x.shape)], [small.value("y", None)]
    return small.model([(kind, "x w b", "y", attrs)], inputs, outputs, **constants), x


def test_products_in_float64_agree_with_onnxruntime():
    rng, judged = np.random.default_rng(0), 0
    for _ in range(80):
        model, x = random_product(rng)
        try:
            [values] = each_run(model, [{"x": x}])
        except Exception:  # noqa: S112 (what onnxruntime refuses is no convolution)
            continue
        values |= {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
        assert np.isfinite(Loss(model.graph.node[0], values, True).error).all()
        judged += 1
    assert judged > 50


@pytest.mark.parametrize(
    ("activation", "given"),
    [("Relu", ""), ("LeakyRelu", "alpha"), ("Sigmoid", ""), ("HardSigmoid", "alpha beta")],
)
def test_activations_in_float64_agree_with_onnxruntime(activation, given):
    rng = np.random.default_rng(4)
    attrs = {"activation": activation} | {f"activation_{name}": 0.3 for name in given.split()}
    a, b, c = (rng.standard_normal(shape).astype(np.float32) for shape in ((4, 3), (5, 4), (5,)))
    names, domain = ["x", "b", "c"], "com.microsoft"
    attrs |= {"transA": 1, "transB": 1, "alpha": 0.5, "beta": 2.0}
    node = helper.make_node("FusedGemm", names, ["y"], domain=domain, name="product", **attrs)
    model = small.model([node], [small.value("x", a.shape)], [small.value("y", (3, 5))], b=b, c=c)
    [values] = each_run(model, [{"x": a}])
    Loss(node, values | {"b": b, "c": c}, True)  # raises UnlikeSums where they are not
