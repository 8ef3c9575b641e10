"""Models of random operators agree with onnxruntime, in any combination, all rewrites on."""

import numpy as np
import onnx
import pytest

from tools.converter.convert import convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

from .random_models import random_model
from .random_operators import FLOATS
from .rewrites.qdq_net import by_onnxruntime

BOUND = 2e-5  # of the largest magnitude
N_MODELS = 120


def on_device(target, models):
    """Yield (conversion, outputs) of each (model, inputs)."""
    conversions = [convert(model) for model, _ in models]
    jobs = [
        Job(c.data, [[x.tobytes() for x in xs]])
        for c, (_, xs) in zip(conversions, models, strict=True)
    ]
    for c, outcome in zip(conversions, run_jobs(target, jobs, timeout=300), strict=True):
        assert not outcome.error, outcome.message
        pairs = zip(outcome.runs[0].outputs, c.graph.outputs, strict=True)
        yield [np.frombuffer(raw, t.np_dtype).reshape(t.shape) for raw, t in pairs]


@pytest.mark.slow
@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_random_models_agree_with_onnxruntime(target):
    models = []
    for seed in range(N_MODELS):
        model, builder = random_model(seed, FLOATS)
        onnx.checker.check_model(model, full_check=True)
        models.append((model, list(builder.values().values())))
    failures = []
    for seed, outputs in enumerate(on_device(target, models)):
        for got, expected in zip(outputs, by_onnxruntime(*models[seed]), strict=True):
            assert got.shape == expected.shape
            error = np.abs(got - expected).max() / max(np.abs(expected).max(), 1e-3)
            if not error <= BOUND:
                operators = " ".join(node.op_type for node in models[seed][0].graph.node)
                failures.append(f"seed {seed}: {error:.2g} in {operators}")
    assert not failures, "\n".join(failures)
