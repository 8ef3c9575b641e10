"""Where -> kernels move and select."""

from __future__ import annotations

from ..ir import Tensor
from . import lowers
from ._elementwise import broadcast, runs_of
from ._extents import matched
from ._move import collapse, emit_move, strides_of


@lowers("Where")
def lower_where(node):
    emit_where(node, *node.inputs, node.outputs[0])


def emit_where(node, condition: Tensor, a: Tensor, b: Tensor, out: Tensor) -> None:
    """out = a where the condition holds, else b, all broadcast to out.

    b fills the output; a then goes where the condition holds.
    """
    if 0 in out.shape:
        return
    condition, a, b = [matched(node, t, out.shape) for t in (condition, a, b)]
    dims, (strides,) = broadcast(out.shape, b)
    emit_move(node.emit, b, out, dims, strides, strides_of(dims))
    dims, (a_strides, condition_strides) = broadcast(out.shape, a, condition)
    unit = 4 if a.itemsize % 4 == 0 else 1
    per = a.itemsize // unit  # device items an element
    dims, (a_strides, condition_strides, _) = collapse(
        [*dims, per],
        [s * per for s in a_strides] + [1],
        [*condition_strides, 0],
        [s * per for s in strides_of(dims)] + [1],
    )
    runs = runs_of(dims, a_strides, condition_strides)
    node.emit("select", [a, condition], [out], unit=unit, runs=runs)
