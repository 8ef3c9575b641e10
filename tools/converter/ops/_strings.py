"""Emission of the kernels for strings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tools.format.objects import OPEN, STRING, string_array

from ..errors import Problem
from ..ir import Tensor


def require_fixed(*tensors: Tensor | None) -> None:
    """Raise Problem if only a run decides the shape of one of these tensors."""
    for t in tensors:
        if t is not None and t.is_open_object:
            raise Problem(f"the shape of {t.name} is known only when the model runs")


def emit_pick(emit, xs: Sequence[Tensor], table: np.ndarray, out: Tensor) -> None:
    """Emit out = the concatenated strings of xs at the indices in a table."""
    require_fixed(*xs, out)
    index = Tensor(f"{out.name}/table", 6, (table.size,), table.reshape(-1).astype(np.int32))
    emit(kernel="string_pick", inputs=[*xs, index], outputs=[out])


def emit_copy(emit, x: Tensor, out: Tensor) -> None:
    """Emit out = x for strings."""
    if x.dtype != STRING:
        raise Problem("a map that goes through the graph unchanged")
    emit_pick(emit, [x], np.arange(x.nelem), out)


def pick_or_alias(node, xs: Sequence[Tensor], table: np.ndarray, out: Tensor) -> None:
    """Emit a pick (see emit_pick), or make out a view of the input that it equals."""
    first = 0
    for x in xs:
        if x.nelem == out.nelem and np.array_equal(table.reshape(-1), first + np.arange(x.nelem)):
            node.alias(out, x)
            return
        first += x.nelem
    emit_pick(node.emit, xs, table, out)


def broadcast(node, x: Tensor, shape: Sequence[int]) -> Tensor:
    """Return strings or bool with the elements written out in a shape."""
    require_fixed(x)
    if x.shape == tuple(shape):
        return x
    table = np.broadcast_to(np.arange(x.nelem).reshape(x.shape), shape)
    out = node.temp(x.dtype, shape)
    if x.dtype == STRING:
        emit_pick(node.emit, [x], table, out)
    else:
        from ._select import emit_gather

        emit_gather(
            node, node.reshaped(x, (x.nelem,)), node.constant(table.astype(np.int32)), out, 0
        )
    return out


def emit_lookup(node, index: Tensor, texts: Sequence[str | bytes], out: Tensor) -> None:
    """Emit out = texts[index]."""
    table = node.constant(string_array(texts))
    node.emit("string_gather", [table, index], [out], outer=1, n=len(texts), inner=1)


def emit_map(node, x: Tensor, answers: dict, default, out: Tensor) -> None:
    """Emit out = answers.get(x, default).

    Args:
        node: the node to lower.
        x: the keys.
        answers: {key: value}, of the dtypes of x and out.
        default: value for other keys.
        out: the output.
    """
    require_fixed(x, out)
    of_nan = [v for k, v in answers.items() if k != k]
    keys = sorted(k for k in answers if k == k)
    values = [*(answers[k] for k in keys), of_nan[-1] if of_nan else default, default]
    constants = [_column(keys, x), _column(values, out)]
    node.emit("label_encoder", [x, *map(node.constant, constants)], [out])


def _column(values, t):
    return string_array(values) if t.dtype == STRING else np.array(values, t.np_dtype)


def set_open(out: Tensor, shape: Sequence[int]) -> None:
    """Set the shape of an output of strings that has dimensions which only a run knows (OPEN)."""
    if OPEN not in shape:
        raise ValueError("no open dimension")
    out.shape = tuple(shape)
