"""Scan of squared distances as CDist."""

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
    """Operators of the rewritten graph; x (rows, 4) are the states, w (vectors, 4) is scanned."""
    inputs, outputs = [info("rows", rows, 4), info("row", 4)], [info("rows_out", rows, 4)]
    body = helper.make_graph(nodes, "body", inputs, [*outputs, info("each", rows)])
    scan = node("Scan", "x w", read, body=body, num_scan_inputs=1, **attributes)
    case = Case([scan], {"x": randn(rows, 4)}, {"w": randn(vectors, 4)}, read.replace("- ", ""))
    return case.rewritten()


@pytest.mark.parametrize(("rows", "vectors"), [(3, 5), (1, 5), (4, 1)])
def test_distances(rows, vectors):
    found = ops(rows=rows, vectors=vectors)
    assert found["CDist"] == 1 and "Scan" not in found


def test_the_other_way_around():
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
def test_what_is_something_else(nodes):
    assert "CDist" not in ops(nodes)


def test_states_that_are_read_stay():
    assert "CDist" not in ops(read="z y")


@pytest.mark.parametrize("name", ["scan_input_directions", "scan_output_directions"])
def test_backwards(name):
    assert "CDist" not in ops(**{name: [1]})
