"""Real models with --float fast16: near their outputs, the same labels, half of the file."""

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
    """(conversion, inputs by the sample's number)"""
    samples = {k: zoo.sample(name, k, "input") for k in range(N_SAMPLES)}
    shapes = [x.shape for x in samples[0]]
    by_name = dict(zip(zoo.input_names(name), shapes, strict=True))
    options = Options(shapes=by_name, strip=True, float="fast16", golden=samples[0])
    done = convert(zoo.model_path(name), options)
    few = done.report()["macs"] > SLOW_MACS
    kept = {k: s for k, s in samples.items() if [x.shape for x in s] == shapes and not (few and k)}
    return done, kept


def has_short(done):
    """Whether any step has short mantissas, and any has products."""
    steps = [s for s in done.graph.steps if s.kernel in PARTS and s.macs]
    return any(t.dtype == 12 for s in steps for t in s.inputs), bool(steps)


def top(a):
    return a.reshape(len(a) if a.ndim > 1 else 1, -1).argmax(1)


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_near(target, name):
    done, samples = short(name)
    found, has_products = has_short(done)
    if not found:
        assert not has_products or any("fast16" in note for note in done.notes)
        return
    job = Job(done.data, [[x.tobytes() for x in sample] for sample in samples.values()])
    [outcome] = run_jobs(target, [job], timeout=300)
    assert not outcome.error, outcome.message
    for i, t in enumerate(done.graph.outputs):
        wanted = [zoo.sample(name, k, "output")[i] for k in samples]
        found = [np.frombuffer(r.outputs[i], t.np_dtype).reshape(t.shape) for r in outcome.runs]
        if t.np_dtype.kind != "f":
            assert all(map(np.array_equal, found, wanted))
            continue
        assert all(map(np.array_equal, map(top, found), map(top, wanted)))
        errors = np.abs(np.subtract(found, wanted, dtype=np.float64))
        assert errors.max() <= BOUNDS.get(name, BOUND) * np.abs(wanted).max()


@pytest.mark.parametrize(
    "name", ["mnist_8", "mlperf_kws_dscnn_f32", "mlperf_vww_mobilenet_f32", "armkws_gru_s_f32"]
)
def test_the_file_has_about_half_of_the_bytes(name):
    done, _ = short(name)
    assert len(done.data) <= 0.54 * zoo.model_path(name).stat().st_size
