"""Real quantized models on MicroPython agree with onnxruntime, as a whole and by layers.

The reference runs the model as it is, in float between Q and DQ, graph optimizations off. Its
float sums and our exact ones differ in the last bits: a tie between two integers may be rounded to
the other one.
"""

import os
import re

import numpy as np
import pytest

from tests.host import zoo
from tests.host.converter.numbers.test_qtables import short_always
from tests.host.device import small
from tests.host.quantized_layers import layers_of, output_scale
from tools.harness import Job, run_jobs

MODELS = [name for name in zoo.models() if re.search("_int8$|_qdq_|_qop_|_qtdnn$", name)]
DYNAMIC = [name for name in zoo.models() if name.endswith("_dynq")]
IDENTICAL = 0.999  # of a layer's elements, or all but one
STEPS = 2  # at the end of a whole model
# Input and output of the largest layer, where those are rows; else what C needs for both.
MOST_ARENA_BYTES = {
    "mlperf_ad_fc_ae_int8": 768,
    "mlperf_kws_dscnn_int8": 16_000,
    "mlperf_vww_mobilenet_int8": 56_000,
}
SHORT_ROWS = "mobilenetv2_"  # whose tables are short: see tools/converter/numbers/qtables.py
MOST_SAMPLES = 20  # all that are stored
SLOW_MACS = 1_000_000  # above, two runs
LONG = os.environ.get("MPCONNXR_LONG") == "1"
LONG_RUNS = 10_000

pytestmark = zoo.needs_zoo
on_targets = pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)


@on_targets
@pytest.mark.parametrize("name", MODELS)
def test_single_layers_agree_with_onnxruntime(target, name, monkeypatch):
    if name.startswith(SHORT_ROWS):
        short_always(monkeypatch)  # as in the whole model
    layers = layers_of(name)
    converted = [layer.converted() for layer in layers]
    jobs = [
        Job(c.data, [[x.tobytes() for x in layer.inputs]])
        for c, layer in zip(converted, layers, strict=True)
    ]
    failures = []
    for layer, c, outcome in zip(layers, converted, run_jobs(target, jobs, 300), strict=True):
        assert not outcome.error, f"{layer.name}: {outcome.message}"
        [t] = c.graph.outputs
        got = np.frombuffer(outcome.runs[0].outputs[0], t.np_dtype).reshape(t.shape)
        assert (got.dtype, got.shape) == (layer.expected.dtype, layer.expected.shape)
        apart = np.abs(got.astype(np.int32) - layer.expected)
        n_apart = int((apart > 0).sum())
        if apart.max() > 1 or n_apart > max(1, (1 - IDENTICAL) * apart.size):
            failures.append(f"{layer.name}: {n_apart} of {apart.size}, {apart.max()} steps")
    assert layers and not failures, "\n".join(failures)


@on_targets
@pytest.mark.parametrize("name", MODELS)
def test_whole_models_agree_with_onnxruntime(target, name):
    samples = {k: zoo.sample(name, k, "input") for k in range(MOST_SAMPLES)}
    first = [x.shape for x in samples[0]]
    samples = {k: s for k, s in samples.items() if s and [x.shape for x in s] == first}
    converted = zoo.converted(name)
    job = Job(converted.data, [[x.tobytes() for x in s] for s in samples.values()])
    [outcome] = run_jobs(target, [job], timeout=300)
    assert not outcome.error, outcome.message
    [t] = converted.graph.outputs
    for k, run in zip(samples, outcome.runs, strict=True):
        [expected] = zoo.sample(name, k, "output")
        got = np.frombuffer(run.outputs[0], t.np_dtype).reshape(t.shape).astype(np.float64)
        assert np.abs(got - expected).max() <= (STEPS + 0.01) * output_scale(name)
        assert got.argmax() == expected.argmax()


@on_targets
@pytest.mark.parametrize("name", DYNAMIC)
def test_dynamically_quantized_models_agree(target, name):
    """A float that is far off would change all integers."""
    [x], [expected] = (zoo.sample(name, 0, kind) for kind in ("input", "output"))
    converted = zoo.converted(name)
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes()]])], timeout=300)
    assert not outcome.error, outcome.message
    got = np.frombuffer(outcome.runs[0].outputs[0], np.float32).reshape(expected.shape)
    assert np.abs(got - expected).max() <= 1e-6 * np.abs(expected).max()
    assert got.argmax() == expected.argmax()


@on_targets
@pytest.mark.parametrize("name", MODELS + DYNAMIC)
def test_a_run_allocates_nothing(target, name):
    x = zoo.sample(name, 0, "input")
    converted = zoo.converted(name)
    runs = LONG_RUNS if LONG else 2 if converted.report()["macs"] > SLOW_MACS else 50
    script = (small.SCRIPTS / "allocation.py").read_text().replace("n = 50", f"n = {runs}")
    files = {"model.bin": converted.data, "x.bin": x[0].tobytes()}
    allocated, kept, _ = small.run(target, script, files, timeout=7200).split()
    assert (allocated, kept) == ("0", "0")


@pytest.mark.parametrize("name", MODELS)
def test_all_steps_are_integer(name):
    """Inputs and outputs may be floats; no other step computes with them."""
    converted = zoo.converted(name)
    assert converted.notes == []


@pytest.mark.parametrize("name", MOST_ARENA_BYTES)
def test_the_arena_is_bounded(name):
    converted = zoo.converted(name)
    assert converted.report()["arena_bytes"] <= MOST_ARENA_BYTES[name]
