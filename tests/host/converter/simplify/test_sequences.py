"""Sequences and optionals are resolved at conversion: onnxruntime runs both models."""

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.device import small
from tests.host.device.small import value
from tools.converter.__main__ import _shapes
from tools.converter.convert import Options, convert
from tools.converter.errors import ConvertError, UnsupportedModel
from tools.converter.load import prepare
from tools.converter.reference.ort_session import open_session
from tools.converter.simplify import sequences, simplify

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
RNG = np.random.default_rng(11)


def list_of(name, shape=None):
    return helper.make_tensor_sequence_value_info(name, FLOAT, shape)


def model_of(nodes, inputs, outputs, constants=(), opset=17):
    return small.model(nodes, inputs, outputs, opset, **dict(constants))


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs, outputs, **attributes)


def split_and_join():
    nodes = [
        node("SplitToSequence", ["x", "lengths"], ["parts"], axis=1),
        node("SequenceAt", ["parts", "last"], ["tail"]),
        node("SequenceErase", ["parts"], ["head"]),
        node("SequenceInsert", ["head", "tail", "first"], ["turned"]),
        node("ConcatFromSequence", ["turned"], ["y"], axis=1),
    ]
    constants = [("lengths", np.int64([2, 1, 3])), ("last", np.int64(-1)), ("first", np.int64(0))]
    return model_of(nodes, [value("x", [2, 6])], [value("y", [2, 6])], constants)


def even_pieces():
    nodes = [
        node("SplitToSequence", ["x", "two"], ["parts"], axis=0),
        node("SequenceLength", ["parts"], ["n"]),
        node("SplitToSequence", ["x"], ["rows"], axis=0, keepdims=0),
        node("ConcatFromSequence", ["rows"], ["y"], axis=-1, new_axis=1),
    ]
    outputs = [value("y", [4, 5]), list_of("parts"), value("n", [], INT64)]
    return model_of(nodes, [value("x", [5, 4])], outputs, [("two", np.int64(2))])


def mapped():
    body = helper.make_graph(
        [node("Mul", ["e", "gain"], ["m"]), node("Add", ["m", "t"], ["r"])],
        "body",
        [value("e", None), value("t", None)],
        [value("r", None)],
    )
    nodes = [
        node("SequenceConstruct", ["x", "x2"], ["seq"]),
        node("Neg", ["x"], ["x2"]),
        node("SequenceMap", ["seq", "x"], ["out"], body=body),
    ]
    nodes = [nodes[1], nodes[0], nodes[2]]
    return model_of(nodes, [value("x", [3])], [list_of("out")], [("gain", np.float32(3))])


def collected():
    body = helper.make_graph(
        [
            node("Identity", ["go"], ["go_on"]),
            node("Cast", ["i"], ["f"], to=FLOAT),
            node("Mul", ["x", "f"], ["term"]),
            node("SequenceInsert", ["seq", "term"], ["more"]),
        ],
        "body",
        [value("i", [], INT64), value("go", [], BOOL), list_of("seq")],
        [value("go_on", [], BOOL), list_of("more")],
    )
    nodes = [
        node("SequenceEmpty", [], ["none"], dtype=FLOAT),
        node("Loop", ["n", "true", "none"], ["all"], body=body),
        node("ConcatFromSequence", ["all"], ["y"], axis=0),
    ]
    constants = [("n", np.int64(4)), ("true", np.array(True))]
    return model_of(nodes, [value("x", [2])], [value("y", [8])], constants)


def chosen():
    branches = {}
    for name, op in (("then_branch", "Neg"), ("else_branch", "Abs")):
        nodes = [node(op, ["x"], ["a"]), node("SequenceConstruct", ["a", "x"], ["s"])]
        branches[name] = helper.make_graph(nodes, name, [], [list_of("s")])
    nodes = [
        node("ReduceSum", ["x"], ["sum"], keepdims=0),
        node("Less", ["sum", "zero"], ["c"]),
        node("If", ["c"], ["seq"], **branches),
    ]
    return model_of(nodes, [value("x", [3])], [list_of("seq")], [("zero", np.float32(0))])


CASES = [split_and_join, even_pieces, mapped, collected, chosen]


def run(model, inputs):
    session = open_session(model)
    results = session.run(None, dict(zip(session.inputs, inputs, strict=True)))
    lists = [y if isinstance(y, list) else [y] for y in results]
    return [y for elements in lists for y in elements]


@pytest.mark.parametrize("make", CASES)
def test_results_are_the_same_without_sequences(make):
    model = make()
    dims = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
    simple = simplify(prepare(model))
    assert not {n.op_type for n in simple.graph.node} & sequences.OPERATORS
    for sign in (1, -1):
        x = sign * np.abs(RNG.standard_normal(dims)).astype(np.float32)
        for got, want in zip(run(simple, [x]), run(model, [x]), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_an_input_sequence_becomes_one_tensor_for_each_element():
    nodes = [node("SequenceAt", ["seq", "one"], ["a"]), node("Relu", ["a"], ["y"])]
    y = value("y", ["m", "n"])
    model = model_of(nodes, [list_of("seq")], [y], [("one", np.int64(1))])
    converted = convert(model, Options(sequences={"seq": [[2], [3, 4]]}))
    assert [(t.name, t.shape) for t in converted.graph.inputs] == [
        ("seq/0", (2,)),
        ("seq/1", (3, 4)),
    ]
    assert converted.graph.outputs[0].shape == (3, 4)
    with pytest.raises(ConvertError, match="--shape seq=2,3/2,3"):
        convert(model)


def test_an_absent_optional_takes_the_other_branch():
    kind = helper.make_optional_type_proto(helper.make_tensor_type_proto(FLOAT, [2]))
    when_present = [node("OptionalGetElement", ["opt"], ["v"]), node("Add", ["v", "x"], ["r"])]
    branches = {
        "then_branch": helper.make_graph(when_present, "yes", [], [value("r", [2])]),
        "else_branch": helper.make_graph([node("Neg", ["x"], ["r"])], "no", [], [value("r", [2])]),
    }
    nodes = [node("OptionalHasElement", ["opt"], ["has"]), node("If", ["has"], ["y"], **branches)]
    inputs = [value("x", [2]), helper.make_value_info("opt", kind)]
    model = model_of(nodes, inputs, [value("y", [2])], opset=18)
    absent = convert(model, Options(sequences={"opt": []}))
    assert [s.node.split()[0] for s in absent.graph.steps] == ["Neg"]
    present = convert(model, Options(sequences={"opt": [[2]]}))
    assert [s.node.split()[0] for s in present.graph.steps] == ["Add"]
    assert [t.name for t in present.graph.inputs] == ["x", "opt/0"]


def test_a_computed_position_is_refused_with_the_reason():
    nodes = [
        node("SequenceConstruct", ["x", "x"], ["seq"]),
        node("SequenceAt", ["seq", "i"], ["y"]),
    ]
    model = model_of(nodes, [value("x", [2]), value("i", [], INT64)], [value("y", [2])])
    with pytest.raises(UnsupportedModel, match="not known at conversion"):
        convert(model)


def test_the_command_line_takes_shapes_of_sequences():
    assert _shapes("s", "2,3/4") == [[2, 3], [4]]
    assert _shapes("s", "2,3/") == [[2, 3]]
    assert _shapes("s", "/") == []
    assert _shapes("s", "//") == [[], []]
