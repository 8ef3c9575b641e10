"""Real models after all rewrites have the same outputs, fewer steps, and are valid ONNX."""

import re

import numpy as np
import onnx
import pytest

from tests.host import zoo
from tests.host.converter.rewrites.graphs import RTOL, compare
from tools.converter import load, pipeline
from tools.converter.__main__ import main
from tools.converter.convert import Options, convert
from tools.converter.reference import golden
from tools.converter.shapes import dims
from tools.converter.simplify import simplify

pytestmark = zoo.needs_zoo
# One of each kind: all of them take a minute.
MODELS = re.compile(
    "cifar10net_op17_f32|digits_cnn_f16|dtln|espdl|lgbm|mcunet|mnist_8$|mobilenetv2_035_96_f32|"
    "mlp_bn|silero|skl_svc|tinymaix_cifar10|transformer_tiny_op13|unet_mini_resize|yolo"
)
# Integer operators round where floats did: qdq's own tests say how far they may be off.
EXACT = [n for n in zoo.models() if MODELS.search(n) and not re.search("int8|qdq", n)]
STEPS = {  # at most
    "cifar10net_op17_f32": 8,
    "mlperf_ad_fc_ae_f32": 10,
    "mnist_8": 3,
    "onnx2c_mnist_mlp_bn": 3,
    "transformer_tiny_op13_dynaxes_f32": 50,
}


def prepared(name):
    """Return the model with its shapes fixed, and the inputs of its first sample."""
    model = load.load(zoo.model_path(name))
    inputs = zoo.sample(name, 0, "input")
    shapes = dict(zip(zoo.input_names(name), [x.shape for x in inputs], strict=True))
    dims.fix(model, shapes, {}, {})
    return simplify(model), inputs


@pytest.mark.parametrize("name", EXACT)
def test_rewrites_keep_the_outputs_of_real_models(name):
    model, inputs = prepared(name)
    rewritten, log = pipeline.rewrite_model(model, 2)
    halves = {t.data_type for t in model.graph.initializer} & {onnx.TensorProto.FLOAT16}
    compare(model, rewritten, inputs, 0 if halves else RTOL)


@pytest.mark.parametrize("name", STEPS)
def test_real_models_have_few_steps(name):
    shapes = [x.shape for x in zoo.sample(name, 0, "input")]
    shapes = dict(zip(zoo.input_names(name), shapes, strict=True))
    report = convert(zoo.model_path(name), Options(strip=True, shapes=shapes)).report()
    assert report["steps"] <= STEPS[name], report["rewrites"]


def test_the_arena_of_mnist_fits_ten_thousand_bytes():
    report = convert(zoo.model_path("mnist_8"), Options(strip=True)).report()
    assert report["arena_bytes"] <= 10_000


@pytest.mark.parametrize("name", ["mnist_8", "tinymaix_cifar10_int8", "transformer_tiny_op17_f32"])
def test_a_saved_model_is_valid_and_runs(name, tmp_path):
    saved = tmp_path / "m.opt.onnx"
    command = [zoo.model_path(name), tmp_path / "m.bin", "--save-optimized", saved]
    assert main([*map(str, command), "--strip"]) == 0
    model = onnx.load(saved)
    onnx.checker.check_model(model)
    [got] = golden.reference(model, zoo.sample(name, 0, "input"))
    [expected] = zoo.sample(name, 0, "output")
    exact = expected.dtype.kind != "f"
    np.testing.assert_allclose(got, expected, 0 if exact else RTOL, 1 if exact else RTOL)


def test_the_report_names_the_rewrites(capsys, tmp_path):
    converted = convert(zoo.model_path("mnist_8"), Options(strip=True))
    assert converted.report()["rewrites"]["activations"] == 2
    main([str(zoo.model_path("mnist_8")), str(tmp_path / "m.bin"), "-v"])
    assert "activations x2" in capsys.readouterr().out
