"""A model as an exporter wrote it, on `unix32` next to onnxruntime."""

import numpy as np

from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import OrtError, open_session
from tools.harness import Job, input_bytes, output_value, run_jobs

FLOAT = 1e-4  # of the largest value: as golden vectors are compared


def check(target, model, samples, reference=None, tolerance=FLOAT):
    """samples: each the inputs, float64 or float32; a board gets what single floats hold of them.

    reference: the same model in float32, for one that onnxruntime does not take.
    """
    samples = [[_as_single(x) for x in xs] for xs in samples]
    done = convert(model, Options(float64="float32", strip=True))
    kinds = [t.np_dtype for t in done.graph.inputs]
    raw = [
        [input_bytes(x.astype(kind)) for x, kind in zip(xs, kinds, strict=True)] for xs in samples
    ]
    [outcome] = run_jobs(target, [Job(done.data, raw)], timeout=120)
    assert not outcome.error, f"{outcome.error}: {outcome.message}"
    try:
        session = open_session(model)
    except OrtError:
        if reference is None:
            raise
        session = open_session(reference)
        samples = [[x.astype(np.float32) for x in xs] for xs in samples]
    for xs, run in zip(samples, outcome.runs, strict=True):
        right = session.run(None, dict(zip(session.inputs, xs, strict=True)))
        parts = zip(done.graph.outputs, run.outputs, run.shapes, right, strict=True)
        for t, data, dims, wanted in parts:
            compare(output_value(data, t.dtype, t.np_dtype, tuple(dims)), wanted, tolerance)


def _as_single(x):
    return x.astype(np.float32).astype(x.dtype) if x.dtype.kind == "f" else x


def compare(got, wanted, tolerance):
    """Labels are equal; floats are within the tolerance."""
    if isinstance(wanted, list):  # of maps, as ZipMap has them
        assert [list(m) for m in got] == [list(m) for m in wanted]
        got, wanted = (np.array([list(m.values()) for m in maps]) for maps in (got, wanted))
    if wanted.dtype.kind not in "f":
        assert got.ravel().tolist() == wanted.ravel().tolist()
        return
    assert got.shape == wanted.shape
    apart = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
    error = apart.max(initial=0) / max(1e-30, np.abs(wanted).max(initial=0))
    assert error <= tolerance, (error, got, wanted)
