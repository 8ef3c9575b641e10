"""Random graphs of distances from stored samples, and of scikit-learn's SVC."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from .builder import Builder
from .dense import weights


def column_sums(b: Builder) -> None:
    """Add sums of picked columns of a matrix; at times multiplied, or of two matrices."""
    rows, width = b.integer(1, 4), b.integer(2, 6)
    matrices = [b.source([rows, width])]
    if b.chance(0.15):
        matrices.append(b.source([rows, width]))
    sums = []
    for _ in range(b.integer(2, 5)):
        total = None
        for _ in range(b.integer(2, 6)):
            column = b.op("Gather", b.choice(*matrices), [b.integer(0, width - 1)], axis=1)
            if b.chance(0.4):
                column = b.op("Neg", column)
            if b.chance(0.2):
                column = b.op("Add", column, np.float32([1]))
            op = b.choice("Add", "Add", "Sub", "Sum") if b.chance(0.97) else "Mul"
            total = column if total is None else b.op(op, total, column)
        sums.append(total)
    b.behind(b.op("Concat", *sums, axis=1))


def distances(b: Builder) -> None:
    b.behind(_scan(b), 1)


def decays(b: Builder) -> None:
    """Add Exp of distances times one number, whose bits the rewrite for boards keeps."""
    apart = _scan(b)
    if b.chance(0.5):
        apart = b.op("Neg", apart)
    else:
        apart = b.op("Mul", apart, np.float32([b.choice(-0.5, -0.3, -1.7, 0.1)]))
    b.behind(b.op("Exp", apart), 1)


def _scan(b: Builder) -> str:
    """Return distances by a Scan over samples, or a near miss of them; (samples, rows)."""
    n, k, vectors = b.integers(1, 5, 3)
    rows, samples = b.source([n, k]), weights(b, vectors, k)
    samples = samples if isinstance(samples, str) else b.constant(samples)
    state, one, outs = "scan_rows", "scan_row", ["scan_same", "scan_each"]
    order = [state, one] if b.chance(0.5) else [one, state]
    op = b.choice("ReduceSumSquare", "ReduceSumSquare", "ReduceSumSquare", "ReduceL1")
    nodes = [
        helper.make_node(b.choice(*["Identity"] * 9, "Neg"), [state], outs[:1]),
        helper.make_node(b.choice(*["Sub"] * 9, "Add"), order, ["scan_apart"]),
    ]
    constants = []
    if b.opset < 18:
        attributes = {"axes": [b.choice(1, 1, 1, -1)]}
        inputs = ["scan_apart"]
    else:
        attributes, inputs = {}, ["scan_apart", "scan_axes"]
        constants = [helper.make_tensor("scan_axes", TensorProto.INT64, [1], [b.choice(1, -1)])]
    nodes.append(helper.make_node(op, inputs, outs[1:], keepdims=0, **attributes))
    of = [(state, [n, k]), (one, [k])]
    body = helper.make_graph(
        nodes,
        "body",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in of],
        [
            helper.make_tensor_value_info(outs[0], TensorProto.FLOAT, [n, k]),
            helper.make_tensor_value_info(outs[1], TensorProto.FLOAT, [n]),
        ],
        constants,
    )
    names = ["scanned_same", "scanned"]
    directions = {"scan_output_directions": [1]} if b.chance(0.1) else {}
    node = helper.make_node(
        "Scan", [rows, samples], names, "Scan", body=body, num_scan_inputs=1, **directions
    )
    for name, dims in zip(names, ([n, k], [vectors, n]), strict=True):
        b.types[name] = helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
    b.nodes.append(node)
    if b.chance(0.9):
        b.unread |= {names[0]}
    return b.op("Transpose", names[1], perm=[1, 0]) if b.chance(0.7) else names[1]
