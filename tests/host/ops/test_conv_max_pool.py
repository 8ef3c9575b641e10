"""Convolution and MaxPool in one step give the bits of two steps, on every target."""

import numpy as np
import pytest
from onnx import helper

from tests.host.device import small
from tools.converter.convert import Options, convert
from tools.converter.file import writer
from tools.converter.reference import golden
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RELU, CLIP = helper.make_node("Relu", ["a"], ["r"]), helper.make_node("Clip", ["a", "l"], ["r"])


def model(x, w, pool, activation=None, bias=True, **attributes):
    rng = np.random.default_rng(1)
    constants = {"w": rng.standard_normal(w), "b": rng.standard_normal(w[0]), "l": np.array(-0.25)}
    conv = helper.make_node("Conv", ["x", "w"] + ["b"] * bias, ["a"], **attributes)
    between = [] if activation is None else [activation]
    behind = helper.make_node(
        "MaxPool", ["r" if between else "a"], ["y"], kernel_shape=pool, strides=pool
    )
    constants = {name: v.astype(np.float32) for name, v in constants.items()}
    ends = [small.value("x", x)], [small.value("y", [None] * len(x))]
    return small.model([conv, *between, behind], *ends, **constants)


MODELS = {
    "plain": model((1, 3, 9, 8), (5, 3, 3, 3), [2, 2], RELU, pads=[1, 1, 1, 1]),
    "a rest of rows and columns": model((1, 2, 14, 13), (4, 2, 5, 5), [3, 3], pads=[2] * 4),
    "long rows": model((1, 1, 8, 120), (8, 1, 3, 3), [2, 2], RELU),
    "groups of a batch": model((2, 4, 8, 9), (6, 2, 3, 2), [3, 2], CLIP, group=2, bias=False),
    "strides and holes": model(
        (1, 2, 17, 15), (3, 2, 2, 3), [2, 2], strides=[1, 2], dilations=[2, 1]
    ),
    "one dimension": model((1, 3, 40), (7, 3, 5), [4], RELU, pads=[2, 2]),
    "points": model((1, 8, 6, 6), (4, 8, 1, 1), [2, 3]),
}


def converted(name, level):
    return convert(MODELS[name], Options(strip=True, optimize=level))


def kernels(converted):
    return [step.kernel for step in converted.graph.steps]


def outputs(target, jobs):
    outcomes = run_jobs(target, jobs)
    assert not any(o.error for o in outcomes), [o.message for o in outcomes]
    return [o.runs[0].outputs[0] for o in outcomes]


@on_targets
def test_one_step_gives_the_bits_of_two(target):
    jobs, references = [], []
    for name, source in MODELS.items():
        shape = converted(name, 2).graph.inputs[0].shape
        x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
        one, two = (converted(name, level) for level in (2, 1))
        assert kernels(one) == ["conv_max_pool"] and "max_pool" in kernels(two)
        assert one.plan.arena_bytes < two.plan.arena_bytes
        jobs += [Job(conversion.data, [[x.tobytes()]]) for conversion in (one, two)]
        references += golden.reference(source, [x])
    result = outputs(target, jobs)
    assert result[::2] == result[1::2]
    for expected, got in zip(references, result[::2], strict=True):
        got = np.frombuffer(got, np.float32).reshape(expected.shape)
        np.testing.assert_allclose(got, expected, 1e-5, 1e-5)


def test_a_plane_much_larger_than_the_input_stays_two_steps(target):
    source = model((1, 2, 6, 6), (3, 2, 2, 2), [2, 2], RELU, pads=[9, 9, 9, 9])
    converted, x = convert(source, Options(strip=True)), small.floats(1, 2, 6, 6)
    assert "max_pool" in kernels(converted)
    [got] = outputs(target, [Job(converted.data, [[x.tobytes()]])])
    [expected] = golden.reference(source, [x])
    got = np.frombuffer(got, np.float32).reshape(expected.shape)
    np.testing.assert_allclose(got, expected, 1e-5, 1e-5)


@pytest.mark.parametrize("pool", [[44, 2], [2, 44]])
def test_windows_that_would_never_end_are_refused(target, pool):
    conversion = converted("plain", 2)
    conversion.graph.steps[0]["pool"] = pool
    data = writer.model_bytes(conversion.graph, conversion.plan.arena_bytes)
    [outcome] = run_jobs(target, [Job(data, [])])
    assert outcome.error == "ModelError" and "windows beyond the input" in outcome.message


@on_targets
def test_infinities_and_nan_are_right(target):
    x = np.random.default_rng(3).standard_normal((1, 3, 9, 8)).astype(np.float32)
    x[0, 1, 3, 4], x[0, 2, 8, 1] = np.inf, -np.inf
    jobs = [Job(converted("plain", level).data, [[x.tobytes()]]) for level in (2, 1)]
    one, two = outputs(target, jobs)
    assert one == two and np.isinf(np.frombuffer(one, np.float32)).any()


@on_targets
@pytest.mark.parametrize("name", ["groups of a batch", "one dimension"])
def test_damaged_models_do_no_harm(target, name):
    report = small.damage(target, converted(name, 2).data, "words", "1")
    assert report.ok and report.refused and report.ran, report


def test_float_python_keeps_two_steps():
    converted = convert(MODELS["plain"], Options(strip=True, float="python"))
    assert kernels(converted) == ["conv", "relu", "max_pool"]


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_a_step_allocates_nothing(target):
    conversion, x = converted("plain", 2), small.floats(1, 3, 9, 8)
    files = {"model.bin": conversion.data, "x.bin": x.tobytes()}
    printed = small.run(target, small.SCRIPTS / "allocation.py", files)
    assert printed.split()[:2] == ["0", "0"]
