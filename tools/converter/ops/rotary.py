"""Lower RotaryEmbedding to kernel rotary; kernel gather picks the angles of its rows."""

from __future__ import annotations

import math

import numpy as np
from onnx import NodeProto, helper

from ..ir import Tensor
from . import lowers
from ._dtypes import FLOAT, INT64
from ._move import emit_move, strides_of
from ._select import emit_gather
from .attention import plain_layout, shape_of


def takes(node: NodeProto, types) -> bool:
    """Return True if the kernel serves a node, with TypeProtos of values by name."""
    attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
    shapes = [shape_of(types.get(name), FLOAT) for name in node.input[:3]]
    if len(node.input) > 3 and node.input[3]:
        shapes.append(shape_of(types.get(node.input[3]), INT64))
    if None in shapes or any(math.prod(shape) == 0 for shape in shapes):
        return False
    if len(shapes[0]) not in (3, 4) or len(shapes[0]) == 3 and not attributes.get("num_heads"):
        return False
    width = shapes[0][-1] if len(shapes[0]) == 4 else shapes[0][-1] // attributes["num_heads"]
    pairs = (attributes.get("rotary_embedding_dim", 0) or width) // 2
    return shapes[1] == shapes[2] and shapes[1][-1] == pairs and 0 < 2 * pairs <= width


@lowers("RotaryEmbedding", takes=takes)
def lower_rotary_embedding(node):
    x, out = node.inputs[0], node.outputs[0]
    layout = plain_layout(x.shape, node.attr("num_heads"))
    batch, heads, rows, width = layout.dims
    pairs = node.inputs[1].shape[-1]
    angles = _angles(node, pairs)
    of_batch = 0 if math.prod(angles.shape[:-2]) == 1 else rows * 2 * pairs
    node.emit(
        "rotary",
        [x, angles],
        [out],
        macs=4 * pairs * batch * heads * rows,
        batch=batch,
        heads=heads,
        length=rows,
        pairs=pairs,
        width=width,
        interleaved=node.attr("interleaved", 0),
        x_strides=layout.strides,
        out_strides=layout.strides,
        angle_strides=(of_batch, 2 * pairs),
    )


def _angles(node, pairs) -> Tensor:
    """Return cosines and sines as (batch, rows, 2 * pairs), of an earlier node if equal."""
    cos, sin, positions = node.inputs[1], node.inputs[2], node.input(3)
    is_known = cos.data is not None and sin.data is not None
    if positions is None:
        return _joined(node, cos, sin, pairs)
    shape = (*positions.shape, 2 * pairs)
    if not is_known:
        parts = [node.temp(FLOAT, (*positions.shape, pairs)) for _ in range(2)]
        for table, part in zip((cos, sin), parts, strict=True):
            emit_gather(node, table, positions, part, 0)
        return _joined(node, *parts, pairs)
    table = np.concatenate([cos.data, sin.data], 1)
    for step in node.steps:
        data = step.inputs[0].data if step.kernel == "gather" else None
        if data is not None and step.inputs[1] is positions and np.array_equal(data, table):
            return step.outputs[0]
    angles = node.temp(FLOAT, shape)
    emit_gather(node, node.constant(table), positions, angles, 0)
    return angles


def _joined(node, cos: Tensor, sin: Tensor, pairs: int) -> Tensor:
    if cos.data is not None and sin.data is not None:
        return node.constant(np.concatenate([cos.data, sin.data], -1))
    angles = node.temp(FLOAT, (*cos.shape[:-1], 2 * pairs))
    dims = [math.prod(cos.shape[:-1]), pairs]
    for i, part in enumerate((cos, sin)):
        emit_move(node.emit, part, angles, dims, strides_of(dims), [2 * pairs, 1], 0, i * pairs)
    return angles
