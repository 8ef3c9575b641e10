"""Compare a model, as an exporter wrote it, on `unix32` with onnxruntime."""

import numpy as np

from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import OrtError, open_session
from tools.harness import Job, input_bytes, output_value, run_jobs

FLOAT = 1e-4  # of the largest value: as golden vectors are compared


def check(target, model, samples, reference=None, tolerance=FLOAT):
    """Run a model on a target and in onnxruntime, and compare the outputs.

    Args:
        target: the target.
        model: the model.
        samples: float64 or float32 arrays for each run; a board gets float32.
        reference: the model in float32, if onnxruntime does not take `model`.
        tolerance: relative tolerance.
    """
    samples = [[_as_single(x) for x in xs] for xs in samples]
    converted = convert(model, Options(float64="float32", strip=True))
    kinds = [t.np_dtype for t in converted.graph.inputs]
    raw = [
        [input_bytes(x.astype(kind)) for x, kind in zip(xs, kinds, strict=True)] for xs in samples
    ]
    [outcome] = run_jobs(target, [Job(converted.data, raw)], timeout=120)
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
        parts = zip(converted.graph.outputs, run.outputs, run.shapes, right, strict=True)
        for t, data, dims, expected in parts:
            compare(output_value(data, t.dtype, t.np_dtype, tuple(dims)), expected, tolerance)


def _as_single(x):
    return x.astype(np.float32).astype(x.dtype) if x.dtype.kind == "f" else x


def compare(got, expected, tolerance):
    """Check that labels are equal and floats within the tolerance."""
    if isinstance(expected, list):  # of maps, as ZipMap has them
        assert [list(m) for m in got] == [list(m) for m in expected]
        got, expected = (np.array([list(m.values()) for m in maps]) for maps in (got, expected))
    if expected.dtype.kind not in "f":
        assert got.ravel().tolist() == expected.ravel().tolist()
        return
    assert got.shape == expected.shape
    apart = np.abs(got.astype(np.float64) - expected.astype(np.float64))
    error = apart.max(initial=0) / max(1e-30, np.abs(expected).max(initial=0))
    assert error <= tolerance, (error, got, expected)
