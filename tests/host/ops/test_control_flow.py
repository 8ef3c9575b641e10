"""If, Loop and Scan, against onnxruntime."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.host.device import small
from tests.host.device.small import value
from tools.converter.convert import Options, convert
from tools.converter.errors import UnsupportedModel
from tools.converter.reference.ort_session import open_session
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
RNG = np.random.default_rng(5)


def model_of(nodes, inputs, outputs, constants=(), opset=17):
    return small.model(nodes, inputs, outputs, opset, **dict(constants))


def f32(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def running_sums():
    """Return a Scan of two states that swap places, backwards, stacking along the last axis."""
    body = helper.make_graph(
        [
            helper.make_node("Add", ["a", "x"], ["b_new"]),
            helper.make_node("Mul", ["b", "gain"], ["a_new"]),
            helper.make_node("Sub", ["a_new", "x"], ["y"]),
        ],
        "body",
        [value("a", [3]), value("b", [3]), value("x", [3])],
        [value("a_new", [3]), value("b_new", [3]), value("y", [3])],
    )
    scan = helper.make_node(
        "Scan",
        ["a0", "b0", "xs"],
        ["a_end", "b_end", "ys"],
        body=body,
        num_scan_inputs=1,
        scan_input_axes=[1],
        scan_input_directions=[1],
        scan_output_axes=[-1],
    )
    model = model_of(
        [scan, helper.make_node("Relu", ["ys"], ["out"])],
        [value("a0", [3]), value("b0", [3]), value("xs", [3, 5])],
        [value("a_end", [3]), value("b_end", [3]), value("out", [3, 5])],
        [("gain", np.float32(0.5))],
    )
    return model, [f32(3), f32(3), f32(3, 5)]


def swapped_states():
    """Return a Loop that only exchanges its two values."""
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"])],
        "body",
        [value("i", [], INT64), value("go", [], BOOL), value("a", [2]), value("b", [2])],
        [value("go_on", [], BOOL), value("b", [2]), value("a", [2])],
    )
    loop = helper.make_node("Loop", ["n", "", "x", "y"], ["p", "q"], body=body)
    inputs, outputs = [value("x", [2]), value("y", [2])], [value("p", [2]), value("q", [2])]
    return model_of([loop], inputs, outputs, [("n", np.int64(3))]), [f32(2), f32(2)]


def halves_until_small():
    """Return a Loop whose end depends on the data."""
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "half"], ["x_new"]),
            helper.make_node("ReduceMax", ["x_new"], ["top"], keepdims=0),
            helper.make_node("Greater", ["top", "one"], ["go_on"]),
        ],
        "body",
        [value("i", [], INT64), value("go", [], BOOL), value("x", [4])],
        [value("go_on", [], BOOL), value("x_new", [4])],
    )
    loop = helper.make_node("Loop", ["", "true", "x0"], ["y"], body=body)
    constants = [("half", np.float32(0.5)), ("one", np.float32(1)), ("true", np.array(True))]
    model = model_of([loop], [value("x0", [4])], [value("y", [4])], constants)
    return model, [np.float32([100, 3, -7, 0.5])]


def branch_on_sum():
    """Return an If whose branches capture outer values, inside a Loop."""
    yes = helper.make_graph(
        [helper.make_node("Add", ["acc", "w"], ["r"])], "yes", [], [value("r", [2])]
    )
    no = helper.make_graph(
        [helper.make_node("Sub", ["acc", "x"], ["r"])], "no", [], [value("r", [2])]
    )
    body = helper.make_graph(
        [
            helper.make_node("ReduceSum", ["acc"], ["s"], keepdims=0),
            helper.make_node("Less", ["s", "zero"], ["c"]),
            helper.make_node("If", ["c"], ["acc_new"], then_branch=yes, else_branch=no),
            helper.make_node("Identity", ["go"], ["go_on"]),
            helper.make_node("Mul", ["acc_new", "two"], ["seen"]),
        ],
        "body",
        [value("i", [], INT64), value("go", [], BOOL), value("acc", [2])],
        [value("go_on", [], BOOL), value("acc_new", [2]), value("seen", [2])],
    )
    loop = helper.make_node("Loop", ["n", "true", "x"], ["end", "all"], body=body)
    constants = [
        ("n", np.int64(6)),
        ("true", np.array(True)),
        ("zero", np.float32(0)),
        ("two", np.float32(2)),
        ("w", np.float32([0.75, 1.5])),
    ]
    outputs = [value("end", [2]), value("all", [6, 2])]
    return model_of([loop], [value("x", [2])], outputs, constants), [np.float32([0.5, 0.25])]


def no_round_at_all():
    model, inputs = swapped_states()
    model.graph.initializer[0].CopyFrom(numpy_helper.from_array(np.int64(0), "n"))
    return model, inputs


CASES = [running_sums, swapped_states, halves_until_small, branch_on_sum, no_round_at_all]


def reference(model, inputs):
    session = open_session(model)
    return session.run(None, dict(zip(session.inputs, inputs, strict=True)))


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_control_flow_agrees_with_onnxruntime(target):
    cases = [make() for make in CASES]
    converted = [convert(model, Options(strip=True)) for model, _ in cases]
    samples = [[x.tobytes() for x in inputs] for _, inputs in cases]
    # twice: the second run must not see what the first left in the arena
    jobs = [Job(c.data, [s, s]) for c, s in zip(converted, samples, strict=True)]
    for (model, inputs), c, outcome in zip(cases, converted, run_jobs(target, jobs), strict=True):
        assert not outcome.error, outcome.message
        for run in outcome.runs:
            results = zip(run.outputs, c.graph.outputs, reference(model, inputs), strict=True)
            for raw, t, want in results:
                got = np.frombuffer(raw, t.np_dtype).reshape(t.shape)
                np.testing.assert_allclose(got, want, rtol=1e-6)


def test_macs_count_every_round():
    body = helper.make_graph(
        [helper.make_node("MatMul", ["s", "w"], ["s_new"])],
        "body",
        [value("i", [], INT64), value("go", [], BOOL), value("s", [1, 4])],
        [value("go", [], BOOL), value("s_new", [1, 4])],
    )
    loop = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    constants = [("n", np.int64(5)), ("w", f32(4, 4))]
    model = model_of([loop], [value("x", [1, 4])], [value("y", [1, 4])], constants)
    assert convert(model).report()["macs"] == 5 * 16


def test_unsupported_operators_of_bodies_are_in_the_report():
    body = helper.make_graph(
        [helper.make_node("Nonsense", ["s"], ["s_new"], domain="com.acme")],
        "body",
        [value("i", [], INT64), value("go", [], BOOL), value("s", [1])],
        [value("go", [], BOOL), value("s_new", [1])],
    )
    loop = helper.make_node("Loop", ["n", "", "x"], ["y"], body=body)
    model = model_of([loop], [value("x", [1])], [value("y", [1])], [("n", np.int64(2))])
    model.opset_import.append(helper.make_opsetid("com.acme", 1))
    with pytest.raises(UnsupportedModel, match="com.acme::Nonsense"):
        convert(model)
