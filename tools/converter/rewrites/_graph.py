"""Read nodes and values, and replace them by others: functions that all rewrites share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress

import numpy as np
import onnx_ir as ir

from ..verify.structure import fault_of

MS = "com.microsoft"
OWN = "mpconnxr"  # of operators that a local function in the model defines for other runtimes
_SLICE_BY_INPUTS_SINCE = 10  # the opset from which on its bounds are inputs


def nodes_of(model: ir.Model, *op_types: str, domain: str = "") -> list[ir.Node]:
    """Return the nodes of these operators in order, with those in subgraphs."""
    return [n for n in model.graph.all_nodes() if n.op_type in op_types and n.domain == domain]


def is_op(node: ir.Node | None, *op_types: str, domain: str = "") -> bool:
    return node is not None and node.op_type in op_types and node.domain == domain


def input_of(node: ir.Node, i: int) -> ir.Value | None:
    """Return the i-th input; None if it is absent."""
    return node.inputs[i] if i < len(node.inputs) else None


def attr(node: ir.Node, name: str, default=None):
    """Return an attribute's value: a number, a str, a list of numbers, a tensor."""
    a = node.attributes.get(name)
    if a is None:
        return default
    return list(a.value) if isinstance(a.value, tuple) else a.value


def ints_of(node: ir.Node, name: str, i: int) -> list[int] | None:
    """Return the numbers in an attribute or in the i-th input (newer opsets), None if unknown."""
    data = const(input_of(node, i))
    return attr(node, name, None if data is None else data.tolist())


def import_into_bodies(model: ir.Model) -> None:
    """Give the graphs of branches and loops the operator sets that the model imports."""
    for graph in model.graph.subgraphs():
        graph.opset_imports.update(model.opset_imports)


def name_apart(model: ir.Model) -> None:
    """Give values in branches and loops names that no other graph has.

    Each graph numbers its new values itself, and ONNX lets none hide another.
    """
    taken = {value.name for value in _values_of(model.graph)}
    for graph in model.graph.subgraphs():
        for value in _values_of(graph):
            name, n = value.name, 0
            while value.name in taken:
                n += 1
                value.name = f"{name}/{n}"
            taken.add(value.name)


def _values_of(graph):
    yield from graph.inputs
    yield from list(graph.initializers.values())
    for node in graph:
        yield from node.outputs


def opset_of(node: ir.Node) -> int:
    """Return the version of ONNX's operator set around a node."""
    return node.graph.opset_imports.get("", 0)


def const(value: ir.Value | None) -> np.ndarray | None:
    """Return the contents of a constant, else None."""
    if value is None or value.const_value is None or value.is_graph_input():
        return None
    return value.const_value.numpy()


def scalar(value: ir.Value | None) -> float | None:
    """Return the one number in a constant, else None."""
    data = const(value)
    return data.item() if data is not None and data.size == 1 else None


def shape_of(value: ir.Value | None) -> tuple[int, ...] | None:
    """Return the dims if all are fixed, else None."""
    if value is None or value.shape is None or not value.shape.is_static():
        return None
    shape = tuple(int(d) for d in value.shape)
    return None if any(d < 0 for d in shape) else shape


def rank_of(value: ir.Value | None) -> int | None:
    """Return the number of dims, else None."""
    return None if value is None or value.shape is None else len(value.shape)


def is_one(value: ir.Value) -> bool:
    """Return True if the value is known to have one element."""
    shape = shape_of(value)
    return shape is not None and all(d == 1 for d in shape)


def is_float(value: ir.Value | None) -> bool:
    """Return True for float32, whose rounding level 2 may change: 16 bits would show it."""
    return value is not None and value.dtype == ir.DataType.FLOAT


def same_type(a: ir.Value, b: ir.Value) -> bool:
    """Return True if two values have the same dtype and the same fixed shape."""
    known = a.dtype is not None and shape_of(a) is not None
    return known and a.dtype == b.dtype and shape_of(a) == shape_of(b)


def sole_reader(value: ir.Value) -> ir.Node | None:
    """Return the only node that reads a value; None if it is read twice or is an output."""
    uses = value.uses()
    if value.is_graph_output() or len(uses) != 1:
        return None
    return next(iter(uses)).node


def maker(value: ir.Value | None, *op_types: str, domain: str = "") -> ir.Node | None:
    """Return the node of one of these types that makes the value, else None."""
    node = None if value is None else value.producer()
    return node if is_op(node, *op_types, domain=domain) else None


def sole_maker(value: ir.Value | None, *op_types: str, domain: str = "") -> ir.Node | None:
    """Return the node that makes a value, if it has one of these operators and one reader."""
    node = maker(value, *op_types, domain=domain)
    return node if node is not None and sole_reader(value) is not None else None


def constant(like: ir.Value, data: np.ndarray) -> ir.Value:
    """Return a new initializer of the graph that `like` is in, named after `like`."""
    graph = like.graph
    name = base = like.name
    n = 0
    while name in graph.initializers or n == 0:
        n += 1
        name = f"{base}/c{n}"
    value = ir.Value(name=name, const_value=ir.tensor(np.asarray(data, order="C"), name=name))
    value.dtype, value.shape = value.const_value.dtype, value.const_value.shape
    graph.register_initializer(value)
    return value


def add(
    before: ir.Node,
    op_type: str,
    inputs: Sequence[ir.Value | None],
    attributes: Mapping | None = None,
    domain: str = "",
    like: ir.Value | None = None,
    shape: Sequence[int] | None = None,
    named: ir.Node | None = None,
) -> ir.Value:
    """Add a node in front of another one, and return its output.

    Args:
        before: the other node.
        op_type: the operator.
        inputs: its inputs, None where one is absent.
        attributes: its attributes.
        domain: the operator's domain.
        like: the value whose dtype and shape the output has; by default the other node's output.
        shape: shape of the output, instead of that of `like`.
        named: a node that will be removed, whose name the new one takes.
    """
    like = like or before.outputs[0]
    node = ir.node(op_type, inputs, attributes or {}, domain=domain)
    before.graph.insert_before(before, node)
    out = node.outputs[0]
    node.name = named.name if named else f"{before.name}/{out.name}"
    out.dtype = like.dtype
    if shape is not None:
        out.shape = ir.Shape(shape)
    elif like.shape is not None:
        out.shape = like.shape.copy()
    return out


def rows_of(before: ir.Node, x: ir.Value, first: int, stop: int) -> ir.Value:
    """Return x[first:stop] along its first axis, the output of a new Slice in front of a node."""
    shape = (stop - first, *shape_of(x)[1:])
    if opset_of(before) < _SLICE_BY_INPUTS_SINCE:
        bounds = {"starts": [first], "ends": [stop], "axes": [0]}
        return add(before, "Slice", [x], bounds, like=x, shape=shape)
    numbers = [constant(x, np.int64([b])) for b in (first, stop, 0)]
    return add(before, "Slice", [x, *numbers], like=x, shape=shape)


def add_many(before: ir.Node, op_type: str, inputs, attributes, domain: str) -> list[ir.Value]:
    """Add a node in front of another one, with its name and its number of outputs.

    The outputs, which are returned, have no types.

    Args:
        before: the other node.
        op_type: the operator.
        inputs: its inputs.
        attributes: its attributes.
        domain: the operator's domain.
    """
    n = len(before.outputs)
    node = ir.node(op_type, inputs, attributes, domain=domain, num_outputs=n, name=before.name)
    before.graph.insert_before(before, node)
    return list(node.outputs)


def replace(node: ir.Node, *values: ir.Value) -> bool:
    """Put these values in the place of a node's outputs, and remove the node.

    Outputs of the graph keep their names. If one is to become an input, a constant or another
    output, which cannot be, nothing changes and False is returned.
    """
    for old, new in zip(node.outputs, values, strict=True):
        if old.is_graph_output() and not _can_be_output(old, new):
            return False
    for old, new in zip(node.outputs, values, strict=True):
        redirect(old, new)
    node.graph.remove(node, safe=True)
    return True


def redirect(old: ir.Value, new: ir.Value) -> None:
    """Let all readers of a value read another one; an output of the graph keeps its name.

    Call sort() if readers may stand before the node that makes the new value.
    """
    is_output, name = old.is_graph_output(), old.name
    old.replace_all_uses_with(new, replace_graph_outputs=True)
    if is_output:
        old.name, new.name = f"{name}/replaced", name


def sort(graph: ir.Graph) -> None:
    """Move each node behind the nodes that make its inputs; all others keep their order.

    A rewrite that merges nodes puts the new node at the place of one of them: readers of the other
    nodes' results may stand before it. A cycle stays as it is; verify reports it.
    """
    if fault_of(graph):
        with suppress(ValueError):
            graph.sort()


def _can_be_output(old, new):
    is_free = not (new.is_graph_input() or new.is_initializer() or new.is_graph_output())
    return is_free and new.graph is old.graph
