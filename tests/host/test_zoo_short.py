"""Real models with --float fast16: near their outputs, same labels, half of the file size."""

import numpy as np
import pytest

from tests.host import zoo
from tests.host.test_zoo import MODELS, N_SAMPLES, SLOW_MACS
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs

BOUND = 2e-3  # of an output's largest magnitude: twice what is allowed for the golden inputs
# Probabilities of chunks of a recording: those of quiet ones are small.
BOUNDS = {"silero_vad_16k_ifless": 7e-3}
PARTS = {"block_conv", "block_gemm", "conv_max_pool", "lstm", "gru", "rnn"}  # kernels
pytestmark = zoo.needs_zoo


def short(name):
    """Return (conversion, inputs by the sample's number)."""
    samples = {k: zoo.sample(name, k, "input") for k in range(N_SAMPLES)}
    shapes = [x.shape for x in samples[0]]
    by_name = dict(zip(zoo.input_names(name), shapes, strict=True))
    options = Options(shapes=by_name, strip=True, float="fast16", golden=samples[0])
    converted = convert(zoo.model_path(name), options)
    few = converted.report()["macs"] > SLOW_MACS
    kept = {k: s for k, s in samples.items() if [x.shape for x in s] == shapes and not (few and k)}
    return converted, kept


def has_short(converted):
    """Return (a step has short mantissas, a step has products)."""
    steps = [s for s in converted.graph.steps if s.kernel in PARTS and s.macs]
    return any(t.dtype == 12 for s in steps for t in s.inputs), bool(steps)


def top(a):
    return a.reshape(len(a) if a.ndim > 1 else 1, -1).argmax(1)


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_near_the_float_models(target, name):
    converted, samples = short(name)
    result, has_products = has_short(converted)
    if not result:
        assert not has_products or any("fast16" in note for note in converted.notes)
        return
    job = Job(converted.data, [[x.tobytes() for x in sample] for sample in samples.values()])
    [outcome] = run_jobs(target, [job], timeout=300)
    assert not outcome.error, outcome.message
    for i, t in enumerate(converted.graph.outputs):
        expected = [zoo.sample(name, k, "output")[i] for k in samples]
        result = [np.frombuffer(r.outputs[i], t.np_dtype).reshape(t.shape) for r in outcome.runs]
        if t.np_dtype.kind != "f":
            assert all(map(np.array_equal, result, expected))
            continue
        assert all(map(np.array_equal, map(top, result), map(top, expected)))
        errors = np.abs(np.subtract(result, expected, dtype=np.float64))
        assert errors.max() <= BOUNDS.get(name, BOUND) * np.abs(expected).max()


@pytest.mark.parametrize(
    "name", ["mnist_8", "mlperf_kws_dscnn_f32", "mlperf_vww_mobilenet_f32", "armkws_gru_s_f32"]
)
def test_the_file_has_about_half_of_the_bytes(name):
    converted, _ = short(name)
    assert len(converted.data) <= 0.54 * zoo.model_path(name).stat().st_size
