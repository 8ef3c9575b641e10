"""Verify the structure of a graph: each value has one producer, which precedes all readers.

A body reads its own values, and those of outer graphs that are computed before its node. In
onnx_ir a value is an object, in a ModelProto a name. A body's name may hide an outer one there:
ONNX forbids that, but files do it. So only a pass may not add it.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Any

import onnx
import onnx_ir as ir

from ..protos import bodies_of, name_of


def fault_of(graph: onnx.GraphProto | ir.Graph, hidden: Collection[str] = ()) -> str:
    """Return the first fault of a graph's structure, "" without any.

    Args:
        graph: a graph of onnx or onnx_ir.
        hidden: names of outer values that bodies may hide.
    """
    access = _Ir if isinstance(graph, ir.Graph) else _Proto
    return next(_faults(graph, access, (), hidden), "")


def hidden_in(graph: onnx.GraphProto, outer: Collection[str] = ()) -> set[str]:
    """Return the names of outer values that bodies hide."""
    own = {*_Proto.sources(graph), *(name for node in graph.node for name in node.output)}
    names = own & set(outer)
    for node in graph.node:
        for body in bodies_of(node):
            names |= hidden_in(body, own.union(outer))
    return names


class _Proto:
    """Access to a GraphProto, in which a value is its name."""

    name_of = staticmethod(name_of)
    bodies_of = staticmethod(bodies_of)
    shown = staticmethod(str)

    @staticmethod
    def nodes(graph: onnx.GraphProto) -> Iterable[onnx.NodeProto]:
        return graph.node

    @staticmethod
    def sources(graph: onnx.GraphProto) -> dict[str, None]:
        """Return inputs and constants once each; an initializer may be the default of an input."""
        constants = [t.name for t in graph.initializer]
        constants += [t.values.name for t in graph.sparse_initializer]
        return dict.fromkeys([*(v.name for v in graph.input), *constants])

    @staticmethod
    def outputs(graph: onnx.GraphProto) -> list[str]:
        return [v.name for v in graph.output]

    @staticmethod
    def read(node: onnx.NodeProto) -> list[str]:
        return [name for name in node.input if name]

    @staticmethod
    def results(node: onnx.NodeProto) -> list[str]:
        return [name for name in node.output if name]


class _Ir:
    """Access to a graph of onnx_ir, in which a value is an object."""

    @staticmethod
    def name_of(node: ir.Node) -> str:
        return node.name or next((str(v.name) for v in node.outputs), "?")

    @staticmethod
    def bodies_of(node: ir.Node) -> Iterator[ir.Graph]:
        for attribute in node.attributes.values():
            if attribute.type == ir.AttributeType.GRAPH:
                yield attribute.value
            elif attribute.type == ir.AttributeType.GRAPHS:
                yield from attribute.value

    @staticmethod
    def shown(value: ir.Value) -> str:
        return str(value.name)

    @staticmethod
    def nodes(graph: ir.Graph) -> Iterable[ir.Node]:
        return graph

    @staticmethod
    def sources(graph: ir.Graph) -> dict[ir.Value, None]:
        return dict.fromkeys([*graph.inputs, *graph.initializers.values()])

    @staticmethod
    def outputs(graph: ir.Graph) -> Iterable[ir.Value]:
        return graph.outputs

    @staticmethod
    def read(node: ir.Node) -> list[ir.Value]:
        return [value for value in node.inputs if value is not None]

    @staticmethod
    def results(node: ir.Node) -> Iterable[ir.Value]:
        return node.outputs


def _faults(
    graph: Any, access: Any, outer: tuple[set[Hashable], ...], hidden: Collection[str]
) -> Iterator[str]:
    """Yield the faults of a graph.

    Args:
        graph: a graph of onnx or onnx_ir.
        access: _Ir or _Proto, which reads it.
        outer: values of the graphs around it, which it may read.
        hidden: names of outer values that bodies may hide.
    """
    own: set[Hashable] = set()
    scopes = (own, *outer)

    def is_known(value):
        return any(value in values for values in scopes)

    def define(value):
        is_new = value not in own and (value in hidden or not is_known(value))
        own.add(value)
        return is_new

    for value in access.sources(graph):
        if not define(value):
            yield f"{access.shown(value)!r} is the name of two values"
    for node in access.nodes(graph):
        for value in access.read(node):
            if not is_known(value):
                yield _misread(graph, access, value, access.name_of(node))
        for body in access.bodies_of(node):
            yield from _faults(body, access, scopes, hidden)
        for value in access.results(node):
            if not define(value):
                yield f"{access.shown(value)!r} is computed twice, again by {access.name_of(node)}"
    for value in access.outputs(graph):
        if not is_known(value):
            yield f"no node computes the output {access.shown(value)!r}"


def _misread(graph, access, value, reader):
    """Return a sentence that says why a node cannot read a value."""
    name = access.shown(value)
    for node in access.nodes(graph):
        if value in access.results(node):
            return f"{reader} reads {name!r} before {access.name_of(node)} computes it"
    return f"{reader} reads {name!r}, which no node before it computes"
