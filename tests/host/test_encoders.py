"""Quantized transformers run in integers throughout, with onnxruntime's numbers."""

import logging

import numpy as np
import pytest

from tests.host import encoders
from tests.host.converter.rewrites.qdq_net import by_onnxruntime, on_device
from tests.host.device import small
from tools.bench.measure import count
from tools.converter.convert import Options, convert
from tools.converter.quantize.settings import Settings
from tools.converter.report import python_floats

pytest.importorskip("onnxruntime.quantization", reason="onnxruntime's quantizer makes the models")

INTEGERS = {"lookup", "move", "qaverage_pool", "qbinary", "qcolumns", "qconv"}
INTEGERS |= {"qdeviation", "qnormalize", "qsoftmax"}
AT_BORDERS = {"levels", "dequantize"}
KINDS = {"LayerNormalization": {}, "Gelu": {"gelu": "Gelu"}, "means": {"norm": "ReduceMean"}}
STEPS = 1  # of the output's scale
NORMS = {"int8": (2, 1), "dynamic": (0, 3)}  # kernels qnormalize and normalize
SMALL = {"width": 16, "heads": 2, "length": 8, "layers": 1}


@pytest.fixture(scope="module", autouse=True)
def quiet():
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def converted(model):
    return convert(model, Options(strip=True))


@pytest.mark.parametrize("dtype", ["QInt8", "QUInt8"])
@pytest.mark.parametrize("kind", KINDS)
def test_all_steps_but_inputs_and_outputs_are_integer(kind, dtype):
    conversion = converted(encoders.static(encoders.Encoder(**SMALL, **KINDS[kind]), dtype))
    kernels = [step.kernel for step in conversion.graph.steps]
    assert kernels[0] == "levels" and kernels[-1] == "dequantize"
    assert set(kernels[1:-1]) <= INTEGERS
    assert conversion.notes == []


@pytest.mark.parametrize("mode", ["int8", "dynamic"])
def test_the_converter_quantizes_encoders(mode):
    """A norm whose result is averaged in float stays float."""
    encoder = encoders.Encoder(**SMALL)
    samples = [{"x": x} for x in encoder.samples(4)]
    options = Options(strip=True, quantize=Settings(mode, samples if mode == "int8" else ()))
    converted = convert(encoder.model(), options)
    kernels = [step.kernel for step in converted.graph.steps]
    assert not python_floats.of(converted).steps
    assert (kernels.count("qnormalize"), kernels.count("normalize")) == NORMS[mode]
    assert kernels.count("qconv") == (10 if mode == "int8" else 8)


@pytest.mark.slow
@pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain"], indirect=True)
def test_outputs_agree_with_onnxruntime(target):
    made = [encoders.Encoder(**SMALL, **kind, seed=i) for i, kind in enumerate(KINDS.values())]
    models = [encoders.static(e, dtype) for e in made for dtype in ("QInt8", "QUInt8")]
    inputs = [[x] for e in made for x in e.samples(2, seed=5)]
    for model, xs, [got] in zip(models, inputs, on_device(target, models, inputs), strict=True):
        [want] = by_onnxruntime(model, xs)
        apart = np.abs(got - want) / step_of(model)
        assert apart.max() <= STEPS, apart


def step_of(model):
    last = next(node for node in model.graph.node if "y" in node.output)
    scale = next(t for t in model.graph.initializer if t.name == last.input[1])
    return float(onnx_array(scale).reshape(()))


def onnx_array(tensor):
    return encoders.numpy_helper.to_array(tensor)


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("make", [encoders.static, encoders.dynamic])
def test_a_run_allocates_nothing(target, make):
    encoder = encoders.Encoder(**SMALL)
    [x] = encoder.samples(1)
    files = {"model.bin": converted(make(encoder)).data, "x.bin": x.tobytes()}
    script = (small.SCRIPTS / "allocation.py").read_text().replace("n = 50", "n = 3")
    assert small.run(target, script, files).split()[:2] == ["0", "0"]


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_damaged_files_do_no_harm(target):
    model = encoders.static(encoders.Encoder(width=8, heads=2, length=4, layers=1))
    report = small.damage(target, small.binary(model), "several", "200")
    assert report.ok and report.refused > 100 and report.ran > 20, report


# Of the instructions of the model in float: the most that QDQ takes, the same with norms in parts,
# and quantize_dynamic.
PARTS = {
    "mps2-an385-v6m": (0.31, 0.33, 0.63),
    "mps2-an385": (0.35, 0.37, 0.66),
    "mps2-an386": (0.49, 0.5, 0.89),
}


@pytest.mark.slow
@pytest.mark.parametrize("target", PARTS)
def test_instructions_are_bounded(target):
    encoder = encoders.Encoder()
    in_parts = encoders.static(encoders.Encoder(norm="ReduceMean"))
    models = [encoder.model(), encoders.static(encoder), in_parts, encoders.dynamic(encoder)]
    counts = [count(converted(model), target) for model in models]
    assert not any(c.heap_growth_bytes for c in counts)
    in_float, *others = (c.instructions for c in counts)
    for part, n in zip(PARTS[target], others, strict=True):
        assert n <= part * in_float, n / in_float
