"""Models give the bits of 64-bit MicroPython on the target webassembly."""

import numpy as np
import pytest

from tests.host.zoo import ROOT, ZOO, model_path, sample
from tools.converter.convert import Options, convert
from tools.harness import Job, input_bytes, output_value, run_jobs

# Integers, floats, recurrent layers, transcendental functions, trees, maps; each runs in seconds.
OF_THE_COLLECTION = (
    "digits_cnn_qdq_s8",
    "gesture_lstm_f32",
    "har_cnn1d_f32",
    "mlperf_ad_fc_ae_int8",
    "onnx2c_mnist_mlp_bn",
    "sensor_features_f32",
    "skl_rf_wine_zipmap",
    "skl_svc_rbf_wine",
    "tflm_hello_world_int8",
)
OF_EXAMPLES = ("anomaly", "digits", "forest", "gesture", "keywords", "shapes")


def same_bits(ready_target, path, inputs):
    """Check that a model has the same bits as on `unix`, for random inputs if they are None."""
    converted = convert(path, Options(strip=True))
    if inputs is None:
        rng = np.random.default_rng(1)
        inputs = [_random(rng, t.np_dtype, t.shape) for t in converted.graph.inputs]
    job = Job(converted.data, [[input_bytes(x) for x in inputs]])
    specs = [(t.dtype, t.np_dtype) for t in converted.graph.outputs]

    def run_on(name):
        [outcome] = run_jobs(ready_target(name), [job], timeout=300)
        assert not outcome.error, (name, outcome.message)
        [run] = outcome.runs
        return [
            _bits(output_value(raw, *spec, shape))
            for raw, shape, spec in zip(run.outputs, run.shapes, specs, strict=True)
        ]

    assert run_on("webassembly") == run_on("unix")


def _bits(y):
    return (y.shape, y.tobytes()) if isinstance(y, np.ndarray) else y


def _random(rng, dtype, shape):
    if dtype.kind == "f":
        return rng.uniform(0, 1, shape).astype(dtype)
    return rng.integers(0, 100, shape).astype(dtype)


@pytest.mark.parametrize("name", OF_THE_COLLECTION)
def test_models_of_the_collection_give_the_same_bits(ready_target, name):
    if not model_path(name).exists():
        pytest.skip(f"no model collection at {ZOO}")
    same_bits(ready_target, model_path(name), sample(name, 0, "input"))


@pytest.mark.parametrize("name", OF_EXAMPLES)
def test_models_of_examples_give_the_same_bits(ready_target, name):
    same_bits(ready_target, ROOT / "examples" / name / f"{name}.onnx", None)
