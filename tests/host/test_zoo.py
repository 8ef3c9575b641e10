"""Real models agree with the outputs that onnxruntime computed for them, on MicroPython."""

import re
import time

import numpy as np
import pytest

from tests.host import zoo
from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs

# What is not float arithmetic, or needs values that are no numbers, has no place here yet.
OTHERS = re.compile("_qdq_|_qop_|_dynq$|_int8$|_qtdnn$|_zipmap$")
MODELS = [name for name in zoo.models() if not OTHERS.search(name)]
N_SAMPLES = 4
SLOW_MACS = 10_000_000  # above, one sample
BOUND = 2e-5  # of the largest magnitude
SMALL_HEAP = ("digits_cnn_f32", "mnist_8")

pytestmark = zoo.needs_zoo


def outputs_of(target, name, n_samples=N_SAMPLES):
    """Return [(got, reference)] of all outputs of the samples with the first one's shapes."""
    samples = {k: zoo.sample(name, k, "input") for k in range(n_samples)}
    first = [x.shape for x in samples[0]]
    converted = zoo.converted(name)
    if converted.report()["macs"] > SLOW_MACS:
        samples = {0: samples[0]}
    samples = {k: s for k, s in samples.items() if s and [x.shape for x in s] == first}
    job = Job(converted.data, [[x.tobytes() for x in sample] for sample in samples.values()])
    [outcome] = run_jobs(target, [job], timeout=300)
    assert not outcome.error, outcome.message
    pairs = []
    for k, run in zip(samples, outcome.runs, strict=True):
        expected = zoo.sample(name, k, "output")
        for raw, t, reference in zip(run.outputs, converted.graph.outputs, expected, strict=True):
            pairs.append((np.frombuffer(raw, t.np_dtype).reshape(t.shape), reference))
    return pairs


def assert_agrees(got, reference):
    """Check that labels are equal; floats differ by at most BOUND of the largest, same argmax."""
    assert got.shape == reference.shape and got.dtype == reference.dtype
    if got.dtype.kind != "f":
        assert np.array_equal(got, reference)
        return
    got, reference = got.astype(np.float64), reference.astype(np.float64)
    assert np.abs(got - reference).max() <= BOUND * np.abs(reference).max()
    rows = len(got) if got.ndim > 1 else 1
    assert np.array_equal(got.reshape(rows, -1).argmax(1), reference.reshape(rows, -1).argmax(1))


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("name", MODELS)
def test_model_agrees_with_its_outputs(target, name):
    for got, reference in outputs_of(target, name):
        assert_agrees(got, reference)


@pytest.mark.parametrize("name", SMALL_HEAP)
def test_model_runs_on_an_emulated_cortex_m3(ready_target, name):
    for got, reference in outputs_of(ready_target("mps2-an385"), name, 1):
        assert_agrees(got, reference)


def converted(name):
    """Return (the model's conversion for the shapes of its first sample, seconds it took)."""
    options = Options(shapes=zoo.shapes(name), strip=True)
    start = time.process_time()
    conversion = convert(zoo.model_path(name), options)
    return conversion, time.process_time() - start


@pytest.mark.parametrize("name", zoo.models())
def test_the_arena_is_near_its_bound_quickly_found_and_reproducible(name):
    conversion, seconds = converted(name)
    plan = conversion.plan
    assert plan.least_bytes <= plan.arena_bytes <= 1.02 * plan.lower_bound_bytes
    assert seconds <= 10
    assert zoo.converted(name).data == conversion.data


def test_model_runs_in_the_plain_form(ready_target):
    for got, reference in outputs_of(ready_target("unix-plain"), "digits_cnn_f32", 2):
        assert_agrees(got, reference)


# Of convolutions, LSTM, attention, gates and normalized rows.
WITHOUT_HEAP = [
    "mobilenetv3ish_96_f32",
    "transformer_tiny_op17_f32",
    "transformer_geltanh_f32",
    "gesture_lstm_f32",
    "dtln_model_1_lstm",
    "mlperf_kws_dscnn_f32",
]


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize("name", WITHOUT_HEAP)
def test_a_run_of_floats_allocates_nothing(target, name):
    x = zoo.sample(name, 0, "input")
    data = zoo.converted(name, keep_inputs=True).data
    script = (small.SCRIPTS / "allocation.py").read_text().replace("n = 50", "n = 2")
    files = {"model.bin": data, "x.bin": x[0].tobytes()}
    allocated, kept, _ = small.run(target, script, files).split()
    assert (allocated, kept) == ("0", "0")
