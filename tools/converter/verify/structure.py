"""The structure of a graph: each value has one producer, which stands before all of its readers.

A subgraph reads its own values, and those of the graphs around it that are known where its node
stands. In the IR a value is an object, in a message a name: there a subgraph's value may hide an
outer one, which ONNX forbids, but files have it. So only a pass may not add that.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator
from typing import Any

import onnx
import onnx_ir as ir

from ..protos import bodies_of, name_of


def fault_of(graph: onnx.GraphProto | ir.Graph, hidden: Collection[str] = ()) -> str:
    """Return what is invalid about a graph, "" if nothing is.

    hidden: names of outer values that subgraphs may hide.
    """
    form = _Ir if isinstance(graph, ir.Graph) else _Proto
    return next(_faults(graph, form, (), hidden), "")


def hidden_in(graph: onnx.GraphProto, outer: Collection[str] = ()) -> set[str]:
    """Return the names of outer values that subgraphs hide."""
    own = {*_Proto.given(graph), *(name for node in graph.node for name in node.output)}
    found = own & set(outer)
    for node in graph.node:
        for body in bodies_of(node):
            found |= hidden_in(body, own.union(outer))
    return found


class _Proto:
    """How to read a message. A value is its name."""

    name_of = staticmethod(name_of)
    bodies_of = staticmethod(bodies_of)
    shown = staticmethod(str)

    @staticmethod
    def nodes(graph: onnx.GraphProto) -> Iterable[onnx.NodeProto]:
        return graph.node

    @staticmethod
    def given(graph: onnx.GraphProto) -> dict[str, None]:
        """Inputs and constants; an initializer may be the default of an input."""
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
    def made(node: onnx.NodeProto) -> list[str]:
        return [name for name in node.output if name]


class _Ir:
    """How to read the IR. A value is an object."""

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
    def given(graph: ir.Graph) -> dict[ir.Value, None]:
        return dict.fromkeys([*graph.inputs, *graph.initializers.values()])

    @staticmethod
    def outputs(graph: ir.Graph) -> Iterable[ir.Value]:
        return graph.outputs

    @staticmethod
    def read(node: ir.Node) -> list[ir.Value]:
        return [value for value in node.inputs if value is not None]

    @staticmethod
    def made(node: ir.Node) -> Iterable[ir.Value]:
        return node.outputs


def _faults(
    graph: Any, form: Any, outer: tuple[set[Hashable], ...], hidden: Collection[str]
) -> Iterator[str]:
    """Yield the faults of a graph. outer: the values around it that it may read, by graph."""
    own: set[Hashable] = set()
    scopes = (own, *outer)

    def is_known(value):
        return any(value in values for values in scopes)

    def define(value):
        is_new = value not in own and (value in hidden or not is_known(value))
        own.add(value)
        return is_new

    for value in form.given(graph):
        if not define(value):
            yield f"{form.shown(value)!r} is the name of two values"
    for node in form.nodes(graph):
        for value in form.read(node):
            if not is_known(value):
                yield _misread(graph, form, value, form.name_of(node))
        for body in form.bodies_of(node):
            yield from _faults(body, form, scopes, hidden)
        for value in form.made(node):
            if not define(value):
                yield f"{form.shown(value)!r} is computed twice, again by {form.name_of(node)}"
    for value in form.outputs(graph):
        if not is_known(value):
            yield f"no node computes the output {form.shown(value)!r}"


def _misread(graph, form, value, reader):
    """Say why a node cannot read a value."""
    name = form.shown(value)
    for node in form.nodes(graph):
        if value in form.made(node):
            return f"{reader} reads {name!r} before {form.name_of(node)} computes it"
    return f"{reader} reads {name!r}, which no node before it computes"
