"""Read and copy messages of a model, and make their text printable.

Names reach terminals, pages and boards, so they are made printable once, where a model is
imported. Two that differ in control characters alone become one, which ONNX's rules refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from onnx import helper

from tools.limits import printable

from .errors import ConvertError

_M = TypeVar("_M", bound=Message)

_FREE_TEXT = ("doc_string", "value")  # of metadata: nothing is called so


def copied(message: _M) -> _M:
    """Return a copy of a message."""
    copy = type(message)()
    copy.CopyFrom(message)
    return copy


def set_all(field: Any, messages: Iterable[Message]) -> None:
    """Let a repeated field hold these messages, which may be its own."""
    messages = list(messages)
    del field[:]
    field.extend(messages)


def opset_of(model: onnx.ModelProto, domain: str) -> int:
    """Return the version of a domain's operator set that the model imports; 0 if none."""
    same = ("", "ai.onnx") if domain in ("", "ai.onnx") else (domain,)
    return max((o.version for o in model.opset_import if o.domain in same), default=0)


def free_inputs(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Return the inputs without a default value, which is an initializer of the same name."""
    constant = {t.name for t in graph.initializer}
    return [i for i in graph.input if i.name not in constant]


def operator_of(proto: onnx.NodeProto) -> str:
    """Return 'Conv', or with its domain 'com.acme::Conv'."""
    return proto.op_type if proto.domain in ("", "ai.onnx") else f"{proto.domain}::{proto.op_type}"


def write_defaults(model: onnx.ModelProto) -> None:
    """Write the defaults of local functions' attributes into their calls, in place.

    onnx's inliner drops an attribute of a function's node if the call does not set it.
    """
    defaults = {(f.domain, f.name): f.attribute_proto for f in model.functions}
    for owner in (model.graph, *model.functions):
        for node in nodes_of(owner):
            own = {a.name for a in node.attribute}
            of_call = defaults.get((node.domain, node.op_type), ())
            node.attribute.extend([a for a in of_call if a.name not in own])


def name_of(proto: onnx.NodeProto) -> str:
    """Return a node's name, or its first output's."""
    return proto.name or (proto.output[0] if proto.output else "?")


def attributes_of(proto: onnx.NodeProto) -> dict[str, Any]:
    """Return a node's attributes by name; texts are bytes."""
    return {a.name: helper.get_attribute_value(a) for a in proto.attribute}


def attribute(node: onnx.NodeProto, name: str, default: Any = None) -> Any:
    """Return a node's attribute, or the default if it has none of this name."""
    return attributes_of(node).get(name, default)


def bodies_of(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the subgraphs that a node runs: of If, Loop, Scan."""
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def nodes_of(graph: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.NodeProto]:
    """Yield all nodes of a graph and of its bodies."""
    for node in graph.node:
        yield node
        for body in bodies_of(node):
            yield from nodes_of(body)


def captured(graph: onnx.GraphProto) -> list[str]:
    """Return the names of outer values that a subgraph, or one inside it, refers to."""
    own = {v.name for v in [*graph.input, *graph.initializer]}
    own.update(name for node in graph.node for name in node.output)
    used: dict[str, None] = {}
    for node in graph.node:
        used.update(dict.fromkeys(name for name in node.input if name))
        for attribute in node.attribute:
            if attribute.HasField("g"):
                used.update(dict.fromkeys(captured(attribute.g)))
    used.update(dict.fromkeys(o.name for o in graph.output))
    return [name for name in used if name not in own]


def walk(message: Message) -> Iterator[Message]:
    """Yield a message and all messages in it."""
    yield message
    for name, repeated in _fields(message.DESCRIPTOR, FieldDescriptor.TYPE_MESSAGE):
        if repeated:
            for inner in getattr(message, name):
                yield from walk(inner)
        elif message.HasField(name):
            yield from walk(getattr(message, name))


def make_printable(model: Message) -> None:
    """Change a model, or a part of one, in place so that no name has control characters.

    Args:
        model: the message.

    Raises:
        ConvertError: if a text is not UTF-8.
    """
    for message in walk(model):
        for name, repeated in _fields(message.DESCRIPTOR, FieldDescriptor.TYPE_STRING):
            if name in _FREE_TEXT:
                _check(message, name)
            elif repeated:
                _each(message, name)
            elif message.HasField(name):
                _one(message, name)


def _one(message, name):
    text = _text(message, name)
    shown = printable(text)
    if shown != text:
        setattr(message, name, shown)


def _each(message, name):
    texts = _text(message, name)
    shown = [printable(text) for text in texts]
    if shown != texts:
        getattr(message, name)[:] = shown


def _check(message, name):
    if message.HasField(name):
        _text(message, name)


def _text(message, name):
    """Return a field's text or texts; protobuf gives bytes for a text that is not UTF-8."""
    value = getattr(message, name)
    texts = value if isinstance(value, (str, bytes)) else list(value)
    if any(isinstance(text, bytes) for text in (texts if isinstance(texts, list) else [texts])):
        kind = message.DESCRIPTOR.name.removesuffix("Proto")
        raise ConvertError(f"the file is damaged: {name} in {kind} is not UTF-8")
    return texts


@cache
def _fields(descriptor, kind):
    """Return (name, is it a list) of the fields of a kind."""
    return [(f.name, f.is_repeated) for f in descriptor.fields if f.type == kind]


def one_line(e: Exception) -> str:
    """Return an error's text up to its first empty line, as one line."""
    words = str(e).strip().partition("\n\n")[0].split()
    return " ".join(words) or type(e).__name__
