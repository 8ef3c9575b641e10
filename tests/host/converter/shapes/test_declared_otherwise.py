"""Wrong declarations of shapes and dtypes in a model change no value.

Some node cases and random models; MPCONNXR_LONG=1: every case that passes, and the collection.
"""

import os
import random
import re
from dataclasses import replace

import onnx
import pytest

from tests.host import zoo
from tests.host.converter.random_models import random_model
from tests.host.converter.random_operators import FLOATS
from tests.host.converter.rewrites.qdq_net import by_onnxruntime
from tests.host.test_conformance import MANY_MACS, failures
from tools.conformance.cases import Case, all_cases, ms_cases
from tools.conformance.prepare import prepare, prepare_all
from tools.conformance.suite import run_cases
from tools.converter.convert import Options, convert
from tools.converter.protos import nodes_of
from tools.converter.shapes.infer_extents import NEEDS_BOUND

from .declared_otherwise import mutated

LONG = os.environ.get("MPCONNXR_LONG") == "1"
N_CASES, N_MODELS = 40, 20
# Operators that give another shape, or run bodies: for these a declaration says most.
TELLING = ("squeeze", "reshape", "transpose", "if", "loop", "scan", "expand", "topk", "split")
# Its definition draws random numbers.
RANDOM = "bernoulli"


def cases():
    results = [c for c in all_cases() if c.id not in failures() and RANDOM not in c.name]
    if LONG:
        return [*results, *ms_cases()]
    rng = random.Random(5)
    telling = [c for c in results if any(f"test_{t}" in c.name for t in TELLING)]
    return rng.sample(telling, N_CASES // 2) + rng.sample(results, N_CASES // 2)


def random_cases(n):
    for seed in range(n):
        model, builder = random_model(seed, FLOATS)
        inputs = list(builder.values().values())
        outputs = by_onnxruntime(model, inputs)
        raw = model.SerializeToString()
        yield Case("random", f"seed {seed}", "", raw, inputs, outputs, rtol=1e-3, atol=1e-4)


def mutated_case(case, seed):
    model = mutated(onnx.load_model_from_string(case.model), seed)
    return replace(case, model=model.SerializeToString())


@pytest.mark.slow
def test_wrong_declarations_change_no_value(ready_target):
    originals = [*cases(), *random_cases(500 if LONG else N_MODELS)]
    changed = [mutated_case(case, seed) for seed, case in enumerate(originals)]
    prepared = prepare_all(changed) if LONG else [prepare(case) for case in changed]
    pairs = [(c, p) for c, p in zip(changed, prepared, strict=True) if p.macs < MANY_MACS]
    rows = run_cases(*zip(*pairs, strict=True), ready_target("unix"))
    wrong = [
        f"{row.id}: {row.status}: {row.reason}"
        for (case, _), row in zip(pairs, rows, strict=True)
        if not row.passed and not (lacks_bound(row) and decides_sizes(case))
    ]
    assert not wrong, "\n".join(wrong)


def lacks_bound(row):
    """Return True if the device or the converter asks for a bound, in place of a wrong one."""
    return re.search(r"planned for 0 to \d+ \(--bound\)|shape .* is not fixed$", row.reason)


def decides_sizes(case):
    """Return True where the declared shape is the only bound of a size that a run decides."""
    nodes = nodes_of(onnx.load_model_from_string(case.model).graph)
    return any(node.op_type in NEEDS_BOUND for node in nodes)


def steps_of(model, shapes):
    """Return what a device computes, and the shapes it gives."""
    converted = convert(model, Options(strip=True, shapes=shapes))
    steps = [(s.kernel, [str(p) for p in s.params]) for s in converted.graph.steps]
    return steps, [(t.name, t.shape, t.dtype) for t in converted.graph.outputs]


@zoo.needs_zoo
@pytest.mark.skipif(not LONG, reason="MPCONNXR_LONG=1 converts the whole collection")
@pytest.mark.parametrize("name", zoo.models())
def test_wrong_declarations_do_not_change_the_collection(name):
    model = onnx.load(zoo.model_path(name))
    shapes = zoo.shapes(name)
    assert steps_of(mutated(model, len(name)), shapes) == steps_of(model, shapes)
