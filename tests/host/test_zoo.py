"""Real models agree with the outputs that onnxruntime computed for them, on MicroPython."""

import numpy as np
import pytest

from tests.host import zoo
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs

# Model -> how many of its samples are run; where a plain Python inference takes seconds, one.
MODELS = {
    "mnist_8": 3,
    "digits_cnn_f32": 6,
    "digits_cnn_dynbatch_f32": 4,
    "digits_cnn_external_data": 4,
    "cifar10net_op17_f32": 1,
    "cifar10net_op17_dynbatch_f32": 1,
    "mlperf_kws_dscnn_f32": 1,
    "mlperf_ad_fc_ae_f32": 2,
    "har_cnn1d_f32": 4,
    "har_cnn1d_dynamo_dyn_f32": 4,
    "tinymaix_cifar10_f32": 1,
    "tinymaix_mnist_f32": 4,
    "tinymaix_mnist_dw_f32": 4,
    "tinymaix_mnist_resnet_f32": 2,
    "tflm_hello_world_f32": 6,
    "onnx2c_mnist_mlp_bn": 4,
    "unet_mini_convtranspose_f32": 1,
    "unet_mini_resize_f32": 1,
}
SMALL_HEAP = ("digits_cnn_f32", "mnist_8")

pytestmark = zoo.needs_zoo


def outputs_of(target, name, n_samples):
    """[(got, reference)] over all outputs of the first samples; skips what the zoo has not."""
    samples = [zoo.sample(name, k, "input") for k in range(n_samples)]
    samples = [s for s in samples if s]
    assert samples
    # a dynamic batch is fixed by the samples: all of one model's have the same shapes
    shapes = dict(zip(zoo.input_names(name), (x.shape for x in samples[0]), strict=True))
    converted = convert(zoo.model_path(name), Options(shapes=shapes, strip=True))
    samples = [
        s for s in samples if all(a.shape == b.shape for a, b in zip(s, samples[0], strict=True))
    ]
    job = Job(converted.data, [[x.tobytes() for x in sample] for sample in samples])
    [outcome] = run_jobs(target, [job], timeout=300)
    assert not outcome.error, outcome.message
    pairs = []
    for k, run in enumerate(outcome.runs):
        expected = zoo.sample(name, k, "output")
        for raw, t, reference in zip(run.outputs, converted.graph.outputs, expected, strict=True):
            pairs.append((np.frombuffer(raw, t.np_dtype).reshape(t.shape), reference))
    return pairs


def assert_agrees(got, reference):
    """Max error at most 1e-4 of the largest magnitude, same argmax."""
    assert got.shape == reference.shape and got.dtype == reference.dtype
    assert np.abs(got - reference).max() <= 1e-4 * np.abs(reference).max()
    assert np.array_equal(
        got.reshape(len(got), -1).argmax(1), reference.reshape(len(got), -1).argmax(1)
    )


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("name", MODELS)
def test_model_agrees_with_its_outputs(target, name):
    for got, reference in outputs_of(target, name, MODELS[name]):
        assert_agrees(got, reference)


@pytest.mark.parametrize("name", SMALL_HEAP)
def test_model_runs_on_an_emulated_cortex_m3(ready_target, name):
    for got, reference in outputs_of(ready_target("mps2-an385"), name, 1):
        assert_agrees(got, reference)


def test_model_runs_in_the_plain_form(ready_target):
    for got, reference in outputs_of(ready_target("unix-plain"), "digits_cnn_f32", 2):
        assert_agrees(got, reference)
