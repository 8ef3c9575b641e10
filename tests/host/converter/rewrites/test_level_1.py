"""Rewrites that change no number: which nodes they remove and keep; outputs are equal."""

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import Case, node, randn

X = {"x": randn(1, 3, 4, 4)}
ONE, ZERO = np.float32([1]), np.float32([0])


def ops(nodes, inputs=X, constants=None, **kwargs):
    return Case(nodes, inputs, constants or {}, level=1, **kwargs).rewritten()


def around(*middle):
    """Return x -> Relu -> middle -> Relu -> y; the middle leads from a to b."""
    return [node("Relu", "x", "a"), *middle, node("Relu", "b", "y")]


@pytest.mark.parametrize(
    ("middle", "constants"),
    [
        (node("Identity", "a", "b"), {}),
        (node("Dropout", "a", "b"), {}),
        (node("Cast", "a", "b", to=1), {}),
        (node("Transpose", "a", "b", perm=[0, 1, 2, 3]), {}),
        (node("Concat", "a", "b", axis=1), {}),
        (node("Sum", "a", "b"), {}),
        (node("Reshape", "a s", "b"), {"s": np.int64([1, -1, 4, 4])}),
        (node("Expand", "a s", "b"), {"s": np.int64([3, 4, 4])}),
        (node("Pad", "a p", "b"), {"p": np.int64([0] * 8)}),
        (node("Slice", "a s e", "b"), {"s": np.int64([0]), "e": np.int64([99])}),
        (node("Mul", "a one", "b"), {"one": ONE}),
        (node("Mul", "one a", "b"), {"one": ONE}),
        (node("Div", "a one", "b"), {"one": ONE}),
        (node("Sub", "a zero", "b"), {"zero": ZERO}),
    ],
)
def test_nodes_that_change_nothing_are_removed(middle, constants):
    assert ops(around(middle), constants=constants) == {"Relu": 2}


@pytest.mark.parametrize(
    ("middle", "constants"),
    [
        (node("Transpose", "a", "b", perm=[0, 1, 3, 2]), {}),
        (node("Cast", "a", "b", to=11), {}),
        (node("Pad", "a p", "b"), {"p": np.int64([0, 0, 1, 0, 0, 0, -1, 0])}),
        (
            node("Slice", "a s e axes steps", "b"),
            {
                "s": np.int64([-1]),
                "e": np.int64([-99]),
                "axes": np.int64([3]),
                "steps": np.int64([-1]),
            },
        ),
        (node("Mul", "a wide", "b"), {"wide": np.ones((2, 3, 4, 4), np.float32)}),
        (node("Div", "one a", "b"), {"one": ONE}),
        (node("Sub", "zero a", "b"), {"zero": ZERO}),
    ],
)
def test_nodes_that_change_something_stay(middle, constants):
    assert ops([node("Neg", "x", "a"), middle, node("Neg", "b", "y")], constants=constants) == {
        "Neg": 2,
        middle.op_type: 1,
    }


def test_an_identity_between_input_and_output_stays():
    assert ops([node("Identity", "x", "y")]) == {"Identity": 1}


def test_outputs_keep_their_names():
    nodes = [node("Relu", "x", "a"), node("Identity", "a", "y"), node("Neg", "a", "z")]
    assert ops(nodes, outputs="y z") == {"Relu": 1, "Neg": 1}


def test_one_value_for_two_outputs_is_copied():
    nodes = [node("Relu", "x", "y"), node("Identity", "y", "z")]
    assert ops(nodes, outputs="y z") == {"Relu": 1, "Identity": 1}


def test_the_mask_of_a_removed_dropout_is_true():
    nodes = [node("Dropout", "x", "a mask"), node("Not", "mask", "z"), node("Relu", "a", "y")]
    assert ops(nodes, outputs="y z")["Relu"] == 1


def test_chains_of_reshapes_become_one():
    nodes = [
        node("Relu", "x", "a"),
        node("Flatten", "a", "b"),
        node("Unsqueeze", "b axis", "c"),
        node("Reshape", "c s", "d"),
        node("Squeeze", "d axis", "y"),
    ]
    constants = {"axis": np.int64([0]), "s": np.int64([1, 0, 6, -1])}
    constants["s"] = np.int64([1, 8, 6])
    assert ops(nodes, constants=constants) == {"Relu": 1, "Reshape": 1}


def test_a_chain_back_to_its_first_shape_is_removed():
    nodes = around(node("Flatten", "a", "f"), node("Reshape", "f s", "b"))
    assert ops(nodes, constants={"s": np.int64([1, 3, 4, 4])}) == {"Relu": 2}


def test_a_reshape_with_two_readers_is_kept_for_the_other():
    nodes = [
        node("Flatten", "x", "f"),
        node("Neg", "f", "z"),
        node("Reshape", "f s", "b"),
        node("Relu", "b", "y"),
    ]
    result = ops(nodes, constants={"s": np.int64([3, 16])}, outputs="y z")
    assert result == {"Flatten": 1, "Neg": 1, "Reshape": 1, "Relu": 1}


def test_transposes_cancel_or_become_one():
    there, back = {"perm": [0, 2, 3, 1]}, {"perm": [0, 3, 1, 2]}
    two = [node("Transpose", "a", "t", **there), node("Transpose", "t", "b", **back)]
    assert ops(around(*two)) == {"Relu": 2}
    two = [node("Transpose", "a", "t", **there), node("Transpose", "t", "b", **there)]
    assert ops(around(*two)) == {"Relu": 2, "Transpose": 1}


def test_a_transpose_of_dims_of_1_is_a_reshape():
    turn = node("Transpose", "x", "t", perm=[0, 2, 3, 1])
    nodes = [turn, node("Relu", "t", "y")]
    assert ops(nodes, {"x": randn(1, 1, 5, 7)}) == {"Reshape": 1, "Relu": 1}


def test_equal_nodes_are_computed_once():
    nodes = [
        node("LeakyRelu", "x", "a", alpha=0.1),
        node("LeakyRelu", "x", "b", alpha=0.1),
        node("LeakyRelu", "x", "c", alpha=0.2),
        node("Add", "a b", "d"),
        node("Add", "c d", "y"),
    ]
    assert ops(nodes) == {"LeakyRelu": 2, "Add": 2}


def test_equal_random_nodes_stay():
    nodes = [
        node("RandomUniformLike", "x", "a"),
        node("RandomUniformLike", "x", "b"),
        node("Sub", "a b", "c"),
        node("Mul", "c zero", "y"),
    ]
    assert ops(nodes, constants={"zero": ZERO})["RandomUniformLike"] == 2


def test_equal_constants_are_stored_once():
    constants = {"v": randn(4), "w": randn(4), "u": randn(4).astype(np.float64)}
    nodes = [node("Add", "x v", "a"), node("Mul", "a w", "b"), node("Cast", "u", "c", to=1)]
    nodes.append(node("Sub", "b c", "y"))
    case = Case(nodes, X, constants, level=1)
    case.rewritten()
    assert len(case.done.graph.initializer) == 1
    assert case.log == {"duplicates": 2}


def test_level_0_changes_nothing():
    case = Case(around(node("Transpose", "a", "b", perm=[0, 1, 2, 3])), X, level=0)
    assert "Transpose" in case.rewritten() and case.log == {}
