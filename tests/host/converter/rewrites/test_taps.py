"""Models whose intermediate values have one more reader give onnxruntime's outputs.

The whole converter, its check of the rewrites off, and the device's package on `unix`: random
graphs around each rewrite's pattern, exporters' models, and the collection. MPCONNXR_LONG=1: 20
times as many variants.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import pytest

from tests.host import zoo
from tests.host.converter.rewrites import tapped_layers
from tests.host.converter.rewrites.random_graphs.families import ALL, QUANTIZED, graphs
from tests.host.converter.rewrites.random_graphs.running import noise_of
from tests.host.converter.rewrites.tapped_layers import values_of, wrong_layers
from tests.host.converter.rewrites.taps import drawn, tapped
from tools.converter import load
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.converter.reference import golden
from tools.converter.reference.differences import step_of
from tools.converter.shapes.infer import infer
from tools.converter.simplify import simplify
from tools.harness import Job, run_jobs

LONG = os.environ.get("MPCONNXR_LONG") == "1"
N = 80 if LONG else 4  # variants of a family
N_FILE = 20 if LONG else 1  # of a file
BOUND = 2e-5  # of the largest magnitude of an output
# A Resize that a tap or a cubic mode keeps in float32 sums axis by axis: its results, which often
# lie in the middle between two integers, may leave it.
STEPS = {"resized": 1}
REFUSED = 0.05  # of the variants, at most: those that make a size an output
MOST_MACS = 3_000_000  # of a model of the collection: else it takes long
OF_INTEGERS = re.compile("_qdq_|_qop_|_dynq$|_int8$|_qtdnn$")
EXPORTED = sorted((Path(zoo.ROOT) / "tests/host/exporters/torch").glob("*.onnx"))


@dataclass
class Variant:
    """A model with taps, and onnxruntime's outputs for its inputs.

    Attributes:
        name: for messages.
        steps: by how many an integer may be off.
        by_layers: no step is allowed: each layer of a differing result must be onnxruntime's or
            the exact one.
    """

    name: str
    model: onnx.ModelProto
    values: list[np.ndarray]
    steps: int = 0
    by_layers: bool = False


def of_family(name):
    family = ALL[name]
    steps = STEPS.get(name, 0)
    by_layers = not steps and (name in QUANTIZED or family.steps is None)
    for seed, builder, model in graphs(family, N):
        rng = np.random.default_rng(seed)
        values = [*builder.inputs.values()]
        yield Variant(f"{name} {seed}", tapped(infer(model), rng), values, steps, by_layers)


def of_file(path, n):
    model = infer(onnx.load(path))
    for seed in range(n):
        rng = np.random.default_rng(seed)
        values = drawn(model, rng)
        if values is not None:
            name = f"{path.parent.name}/{path.stem} {seed}"
            yield Variant(name, tapped(model, rng), [*values.values()])


def of_collection(name):
    """Yield variants of a model of the collection, fewer of a large one, with its first sample."""
    sample = zoo.sample(name, 0, "input")
    shapes = dict(zip(zoo.input_names(name), [x.shape for x in sample], strict=True))
    model = onnx.load(zoo.model_path(name))
    for info in model.graph.input:
        for dim, n in zip(
            info.type.tensor_type.shape.dim, shapes.get(info.name, ()), strict=False
        ):
            dim.dim_value = n
    model = simplify(load.prepare(model))
    by_layers = bool(OF_INTEGERS.search(name))
    n = 2 if LONG and macs_of(model) > MOST_MACS else N_FILE
    for seed in range(n):
        rng = np.random.default_rng(seed)
        yield Variant(f"{name} {seed}", tapped(model, rng), sample, by_layers=by_layers)


def macs_of(model):
    return convert(model, Options(strip=True, check=False)).report()["macs"]


def wrong_of(target, variants):
    """Convert and run all variants; return what is wrong, by variant."""
    wrong, jobs, n_refused = [], [], 0
    for variant in variants:
        expected = golden.reference(variant.model, variant.values)
        if expected is None:
            continue
        try:
            converted = convert(variant.model, Options(strip=True, check=False))
        except UnsupportedModel:
            n_refused += 1
            continue
        except Exception as e:
            wrong.append(f"{variant.name}: {type(e).__name__}: {str(e)[:300]}")
            continue
        if any(t.is_object for t in converted.graph.outputs):  # maps of ZipMap
            continue
        sample = [
            x.astype(t.np_dtype).tobytes()
            for x, t in zip(variant.values, converted.graph.inputs, strict=True)
        ]
        jobs.append((variant, converted, expected, Job(converted.data, [sample])))
    outcomes = run_jobs(target, [job for *_, job in jobs], timeout=300)
    for (variant, converted, expected, _), outcome in zip(jobs, outcomes, strict=True):
        text = outcome.error and f"{outcome.error}: {outcome.message}"
        text = text or deviation(variant, converted.graph.outputs, outcome.runs[0], expected)
        if text and not outcome.error and variant.by_layers:
            got = values_of(converted.graph.outputs, outcome.runs[0])
            text = wrong_layers(target, variant.model, variant.values, got)
        if text:
            wrong.append(f"{variant.name}: {text}")
    if n_refused > max(1, REFUSED * len(jobs)):
        wrong.append(f"{n_refused} variants are refused")
    return wrong, len(jobs)


def deviation(variant, outputs, run, expected):
    """Return what is wrong with the outputs of a run, "" if nothing is."""
    noise = None
    made = values_of(outputs, run).values()
    for i, (t, y, right) in enumerate(zip(outputs, made, expected, strict=True)):
        got = y.astype(right.dtype)
        if right.dtype == np.float32:  # onnxruntime's largest of nothing but -inf
            got, right = (np.where(v == np.finfo(v.dtype).min, -np.inf, v) for v in (got, right))
        apart = largest_difference(got, right)
        largest = np.abs(right[np.isfinite(right)]).max(initial=0)
        bound = BOUND * float(largest) if right.dtype.kind == "f" else 0
        if right.dtype == np.float16:  # onnxruntime rounds only the values that are read as such
            bound = max(bound, float(np.spacing(largest)))
        if variant.steps:
            bound = max(bound, 1.001 * variant.steps * step_of(right, got))
        if apart > bound and right.dtype.kind == "f" and not variant.by_layers:
            noise = noise or noise_of(variant.model, variant.values, expected)
            bound = max(bound, noise[i])
        if apart > bound:
            return f"{t.name} is {apart / (np.abs(right).max() or 1):.2g} of the largest value off"
    return ""


def largest_difference(got, right):
    if got.shape != right.shape:
        return np.inf
    same = (got == right) | (got != got) & (right != right)
    return np.abs(got[~same].astype(np.float64) - right[~same]).max(initial=0)


@pytest.mark.parametrize("name", ALL)
def test_random_graphs_with_taps_agree(target, name):
    wrong, n = wrong_of(target, of_family(name))
    assert not wrong, "\n".join(wrong)
    assert n >= N // 2


def test_scales_give_the_shape_of_quantized_resizes():
    """A rewrite made the result, whose shape nothing declares."""
    [(seed, _, model)] = graphs(ALL["resized"], 1, first=79)
    variant = tapped(infer(model), np.random.default_rng(seed))
    assert convert(variant, Options(strip=True, check=False)).report()["macs"]


@pytest.mark.parametrize("first", range(10))
def test_exported_models_with_taps_agree(target, first):
    files = EXPORTED[first::10]
    wrong, n = wrong_of(target, (v for path in files for v in of_file(path, N_FILE)))
    assert not wrong, "\n".join(wrong)
    assert n >= len(files) * N_FILE // 2


@zoo.needs_zoo
@pytest.mark.parametrize("name", zoo.models())
def test_models_of_the_collection_with_taps_agree(target, name):
    wrong, _ = wrong_of(target, of_collection(name))
    assert not wrong, "\n".join(wrong)


@zoo.needs_zoo
@pytest.mark.parametrize("k", [0, 1, 3, -1])
def test_a_deviation_in_a_layer_is_found(target, monkeypatch, k):
    """A comparison by layers allows no step: neither in the first integers nor in the last."""
    variant = next(of_collection("digits_cnn_qdq_s8"))
    run, changed = tapped_layers._run, []

    def run_wrong(*arguments):
        values = {name: y.copy() for name, y in run(*arguments).items()}
        changed.append([name for name, y in values.items() if y.dtype.kind == "i"][k])
        values[changed[0]].flat[0] ^= 1
        return values

    assert not wrong_layers(target, variant.model, variant.values, {})
    monkeypatch.setattr(tapped_layers, "_run", run_wrong)
    wrong = wrong_layers(target, variant.model, variant.values, {})
    assert f"{changed[0]}: 1 of " in wrong
