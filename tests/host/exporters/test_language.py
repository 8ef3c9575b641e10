"""A language model that decodes token by token, its cache a state, agrees with onnxruntime."""

import numpy as np
import pytest

from tests.host.exporters import against, language_models
from tests.host.program import test_models as programs
from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import open_session
from tools.converter.report import python_floats
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

TOKENS = (3, 7, 7, 0, 19, 4)
TOLERANCE = 2e-5  # of the largest score
# Roundings of short mantissas and of weights are those of the options.
MOST_SHORT = 5e-3


def sizes(**of):
    return language_models.Sizes(**language_models.TINY | of)


def expected(model, of):
    """Return the scores of each token by onnxruntime, without its own rewrites."""
    session = open_session(model)
    shapes = {
        i.name: [d.dim_value for d in i.type.tensor_type.shape.dim] for i in model.graph.input
    }
    names = language_models.states(of)
    caches, results = {name: np.zeros(shapes[name], np.float32) for name in names}, []
    for position, token in enumerate(TOKENS):
        inputs = dict(zip(("token", "position"), inputs_at(position, token), strict=True))
        scores, *new = session.run(None, inputs | caches)
        caches = dict(zip(names, new, strict=True))
        results.append(scores)
    return results


def inputs_at(position, token):
    return [np.array([[token]], np.int64), np.array([position], np.int64)]


def decoded(target, model, of, **options):
    converted = convert(model, Options(strip=True, state=language_models.states(of), **options))
    runs = [[x.tobytes() for x in inputs_at(*pair)] for pair in enumerate(TOKENS)]
    [outcome] = run_jobs(target, [Job(converted.data, runs)], timeout=120)
    assert not outcome.error, f"{outcome.error}: {outcome.message}"
    return converted, [np.frombuffer(run.outputs[0], np.float32) for run in outcome.runs]


def worst(got, expected):
    pairs = zip(got, expected, strict=True)
    return max(np.abs(a - b.ravel()).max() / np.abs(b).max() for a, b in pairs)


@pytest.mark.parametrize("is_split", [False, True], ids=["joined", "split"])
def test_tokens_with_a_cache_agree(ready_target, is_split):
    of = sizes(is_split=is_split)
    model, result = language_models.build(of), []
    reference = expected(model, of)
    for name in UNIX_TARGETS:
        converted, got = decoded(ready_target(name), model, of)
        assert not python_floats.of(converted).steps
        assert worst(got, reference) <= TOLERANCE
        result.append(np.concatenate(got).tobytes())
    assert result[1:] == result[:-1]
    kernels = [step.kernel for step in converted.graph.steps]
    assert kernels.count("cache") == 2 * of.layers and kernels.count("attention") == of.layers
    assert "move" not in kernels


@pytest.mark.parametrize("weights", ["int8", "int4"])
@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_tokens_with_quantized_weights_agree(target, weights):
    """Integers with one scale a column are exact, and the file holds the integers."""
    of = sizes(weights=weights)
    model = language_models.build(of)
    reference = expected(model, of)
    whole, got = decoded(target, model, of)
    assert worst(got, reference) <= TOLERANCE
    small, got = decoded(target, model, of, weights=weights)
    assert worst(got, reference) <= TOLERANCE
    assert len(small.data) < len(whole.data)
    dtypes = {s.inputs[1].np_dtype for s in small.graph.steps if s.kernel == "block_gemm"}
    assert dtypes == {np.dtype({"int8": np.uint8, "int4": np.int8}[weights])}


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_tokens_in_16_bits_agree(target):
    of = sizes()
    model = language_models.build(of)
    _, got = decoded(target, model, of, float="fast16")
    assert worst(got, expected(model, of)) <= MOST_SHORT


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_a_program_decodes_and_allocates_nothing(target):
    of = sizes()
    converted = convert(
        language_models.build(of), Options(strip=True, state=language_models.states(of))
    )
    samples = [inputs_at(*pair) for pair in enumerate(TOKENS)]
    assert programs.check(target, {"tiny": (converted.data, samples)}, False) == ["tiny"]


@pytest.mark.parametrize("target", ["unix32"], indirect=True)
def test_an_encoder_agrees(target):
    of = language_models.Sizes(dim=16, layers=2, heads=4, groups=4, hidden=24, room=9)
    model = language_models.build_encoder(of)
    x = np.random.default_rng(0).standard_normal((1, 9, 16)).astype(np.float32)
    against.check(target, model, [[x]], tolerance=TOLERANCE)
    kernels = [step.kernel for step in convert(model, Options(strip=True)).graph.steps]
    assert kernels.count("attention") == of.layers and "move" not in kernels
