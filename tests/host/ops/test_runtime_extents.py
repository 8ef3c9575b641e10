"""Shapes that a run decides agree with onnxruntime, for several inputs of each model."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.runtime_case import FLOAT, Case, check, f32
from tests.host.ops.runtime_models import (
    CASES,
    compressed_twice,
    filled,
    loop_of_some_rounds,
    masks,
    nonzero,
    ranges,
    shape_chain,
    sliced,
    stopped_loop,
    suppressed,
    top_k,
    unique,
)
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel, UsageError
from tools.format.layout import element_bytes
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)


@every_target
def test_models_agree_with_onnxruntime(target):
    cases = [make() for make in CASES]
    for i, (case, shapes) in enumerate(zip(cases, check(target, cases), strict=True)):
        assert len(shapes) > 1 or case.model.graph.node[0].op_type == "If", i


@every_target
@pytest.mark.parametrize(
    ("make", "sample", "text"),
    [
        (ranges, [0, 9, 1], "9 elements, planned for 0 to 8"),
        (ranges, [0, 1, 0], "a delta of 0"),
        (filled, [np.array([5, 3]), f32(1, 3)], "5 elements, planned for 0 to 4"),
        (filled, [np.array([-1, 3]), f32(1, 3)], "-1 elements, planned for 0 to 4"),
        (top_k, [f32(3, 6), np.array([7])], "7 elements, planned for 0 to 6"),
        (loop_of_some_rounds, [np.float32([-99, 0]), np.array(9)], "more than 8 rounds"),
    ],
)
def test_sizes_beyond_the_plan_are_an_input_error(target, make, sample, text):
    """The model still runs afterwards."""
    case = make()
    bad = [element_bytes(np.asarray(x)) for x in sample]
    converted = case.converted()
    outcome = run_jobs(target, [Job(converted.data, [case.raw()[0], bad])])[0]
    assert outcome.error == "InputError" and text in outcome.message and len(outcome.runs) == 1


def different_masks():
    nodes = ["Compress x0 x1 -> a", "Compress x0 x2 -> b", "Add a b -> y"]
    equal = [f32(4), np.array([1, 0, 1, 0], bool), np.array([0, 0, 1, 1], bool)]
    return Case(nodes, [equal], {"y": FLOAT})


@every_target
def test_sizes_that_must_be_equal_are_compared(target):
    case = different_masks()
    x, mask = case.samples[0][:2]
    unequal = [element_bytes(v) for v in (x, mask, np.ones(4, bool))]
    converted = case.converted()
    outcome = run_jobs(target, [Job(converted.data, [case.raw()[0], unequal])])[0]
    np.testing.assert_array_equal(
        np.frombuffer(outcome.runs[0].outputs[0], np.float32), case.expected[0][0]
    )
    assert outcome.error == "InputError" and "an extent of" in outcome.message


def test_a_missing_bound_is_requested():
    case = ranges()
    with pytest.raises(UnsupportedModel, match="--bound y=N says how many"):
        convert(case.model)


def test_a_bound_of_an_unknown_name_is_refused():
    with pytest.raises(UsageError, match="no node computes q"):
        convert(ranges().model, Options(bounds={"q": 3}))


def test_a_bound_may_be_smaller_than_the_derived_one():
    case = nonzero()
    by_itself = case.converted().report()["arena_bytes"]
    bounded = convert(case.model, Options(strip=True, bounds={"i": 4})).report()["arena_bytes"]
    assert bounded < by_itself


def test_unsupported_open_operators_are_refused():
    """A lowering that computes with plain numbers would hold for the bound only."""
    norm = ("MeanVarianceNormalization a -> y", {"axes": [0]})
    nodes = [("Compress x0 x1 -> a", {"axis": 0}), norm]
    case = Case(nodes, masks(4, f32(4, 4)), {"y": FLOAT}, opset=17)
    with pytest.raises(UnsupportedModel, match="it cannot follow a run-time extent"):
        case.converted()


@pytest.mark.slow
@every_target
@pytest.mark.parametrize(
    "make", [shape_chain, unique, suppressed, ranges, sliced, stopped_loop, compressed_twice]
)
def test_damaged_files_do_no_harm(target, make):
    data = make().converted().data
    for mode, amount in (("words", "1"), ("several", "600")):
        report = small.damage(target, data, mode, amount, timeout=240)
        assert report.ok and report.slowest < 10_000, f"{mode}: {report}"
