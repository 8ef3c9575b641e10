"""A Scan of squared distances becomes CDist."""

import pytest
from onnx import TensorProto, helper

from tests.host.converter.rewrites.graphs import Case, node, randn

APART = [
    node("Identity", "rows", "rows_out"),
    node("Sub", "rows row", "d"),
    node("ReduceSumSquare", "d", "s", axes=[1], keepdims=0),
    node("Identity", "s", "each"),
]


def info(name, *shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def ops(nodes=APART, rows=3, vectors=5, read="- y", **attributes):
    """Return the operators after rewriting; x (rows, 4) is the state, w (vectors, 4) scanned."""
    inputs, outputs = [info("rows", rows, 4), info("row", 4)], [info("rows_out", rows, 4)]
    body = helper.make_graph(nodes, "body", inputs, [*outputs, info("each", rows)])
    scan = node("Scan", "x w", read, body=body, num_scan_inputs=1, **attributes)
    case = Case([scan], {"x": randn(rows, 4)}, {"w": randn(vectors, 4)}, read.replace("- ", ""))
    return case.rewritten()


@pytest.mark.parametrize(("rows", "vectors"), [(3, 5), (1, 5), (4, 1)])
def test_a_scan_of_distances_becomes_cdist(rows, vectors):
    result = ops(rows=rows, vectors=vectors)
    assert result["CDist"] == 1 and "Scan" not in result


def test_the_difference_may_be_reversed():
    nodes = [APART[0], node("Sub", "row rows", "d"), *APART[2:]]
    assert ops(nodes)["CDist"] == 1


@pytest.mark.parametrize(
    "nodes",
    [
        [*APART[:2], node("ReduceL2", "d", "s", axes=[1], keepdims=0), APART[3]],
        [APART[0], node("Add", "rows row", "d"), *APART[2:]],
        [node("Neg", "rows", "rows_out"), *APART[1:]],
    ],
)
def test_other_patterns_stay(nodes):
    assert "CDist" not in ops(nodes)


def test_a_scan_whose_state_is_read_stays():
    assert "CDist" not in ops(read="z y")


@pytest.mark.parametrize("name", ["scan_input_directions", "scan_output_directions"])
def test_a_backward_scan_stays(name):
    assert "CDist" not in ops(**{name: [1]})
