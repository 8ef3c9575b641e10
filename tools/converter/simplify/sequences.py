"""Resolve sequences and optionals into tensors, the only values that a device knows.

A sequence of known length is a list of tensors here, and each operator on it picks from that list:

1. SequenceInsert, -Erase, -At, -Length, Identity and the Optional operators disappear; positions
   must be constants. Each list is made by a SequenceConstruct, which is removed when nothing reads
   it any more.
2. SplitToSequence becomes Split (and Squeeze), ConcatFromSequence Concat (and Unsqueeze).
3. SequenceMap becomes one copy of its body per element, a Loop that carries a sequence one per
   trip. An If with a known condition becomes its branch. Any other If returns the elements of its
   branches one by one.
4. A graph output becomes one output per element, named NAME/0, NAME/1, ...; `split_inputs` does
   the same for graph inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import helper

from ..context import Context
from ..errors import ConvertError
from ..external_weights import array_of
from ..protos import captured, copied, opset_of, set_all
from .sequence_rules import RULES, Nodes, sequence_of, tensor_of

_MAKERS = ("SequenceConstruct", "SequenceEmpty", "Optional")
OPERATORS = frozenset(RULES) - {"Identity", "If", "Loop"}


def split_inputs(model: onnx.ModelProto, shapes: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """Replace inputs of a model that are sequences or optionals by tensors, in place.

    Args:
        model: the model.
        shapes: shapes of the elements, by input. An optional has one shape, or none if it is
            absent.

    Raises:
        ConvertError: if shapes lacks such an input.
    """
    graph = model.graph
    inputs = list(graph.input)
    if all(i.type.WhichOneof("value") in (None, "tensor_type") for i in inputs):
        return
    del graph.input[:]
    head: Nodes = []
    for info in inputs:
        kind = info.type.WhichOneof("value")
        if kind not in ("sequence_type", "optional_type"):
            graph.input.append(info)
            continue
        if info.name not in shapes:
            raise ConvertError(
                f"input {info.name} is a {kind.removesuffix('_type')}: give the shapes of its "
                f"elements, as in --shape {info.name}=2,3/2,3 (--shape {info.name}=/ for none)"
            )
        head += _build(graph, info, shapes[info.name])
    set_all(graph.node, [*head, *graph.node])


def _build(graph, info, shapes) -> Nodes:
    """Add tensor inputs for one input, and return the nodes that build the input from them."""
    kind, inner = info.type.WhichOneof("value"), info.type
    if kind == "optional_type":
        inner = info.type.optional_type.elem_type
    is_sequence = inner.HasField("sequence_type")
    dtype = tensor_of(inner).tensor_type.elem_type
    names = [f"{info.name}/{i}" for i in range(len(shapes))]
    for name, shape in zip(names, shapes, strict=True):
        graph.input.append(helper.make_tensor_value_info(name, dtype, list(shape)))
    if kind == "sequence_type":
        return [sequence_of(names, info.name, dtype)]
    if not names:
        return [helper.make_node("Optional", [], [info.name], type=inner)]
    if not is_sequence:
        return [helper.make_node("Optional", names, [info.name])]
    whole = f"{info.name}/all"
    return [sequence_of(names, whole, dtype), helper.make_node("Optional", [whole], [info.name])]


def resolve(model: onnx.ModelProto, context: Context) -> onnx.ModelProto:
    """Return the model with all sequences resolved whose length is known, in a copy if any is."""
    graph = model.graph
    kinds = [o.type.WhichOneof("value") for o in graph.output]
    relevant = OPERATORS | {"If"}
    if not any(n.op_type in relevant for n in graph.node) and set(kinds) <= {"tensor_type"}:
        return model
    copy = copied(model)
    resolver = _Resolver(copy, context)
    nodes = [new for node in graph.node for new in resolver.rewritten(node)]
    nodes += resolver.split_outputs()
    nodes = _without_dead(nodes, {o.name for o in copy.graph.output})
    if nodes == list(graph.node) and len(copy.graph.output) == len(graph.output):
        return model
    set_all(copy.graph.node, nodes)
    del copy.graph.value_info[:]
    return copy


def _without_dead(nodes: Nodes, needed: set[str]) -> Nodes:
    """Remove the nodes that make a sequence or optional that nothing reads."""
    used = set(needed)
    for node in nodes:
        used.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                used.update(captured(attribute.g))
    return [n for n in nodes if n.op_type not in _MAKERS or n.output[0] in used]


class _Resolver:
    """The state while nodes are rewritten one by one; the rules in sequence_rules use it.

    Attributes:
        lists: names of the tensors of each known sequence.
        optionals: name of the value in each known optional, None if it is empty.
        constants: initializers by name.
        types: types of values by name.
        copies: number of bodies copied so far, for unique names.
    """

    def __init__(self, model, context):
        self.graph = model.graph
        self.opset = opset_of(model, "")
        self.context = context
        self.constants = {t.name: t for t in model.graph.initializer}
        self.types = {
            v.name: v.type
            for v in [*model.graph.input, *model.graph.value_info, *model.graph.output]
        }
        self.lists: dict[str, list[str]] = {}
        self.optionals: dict[str, str | None] = {}
        self.copies = 0

    def rewritten(self, node: onnx.NodeProto) -> Nodes:
        """Return the nodes that replace a node, which is itself if too little is known yet."""
        rule = RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        nodes = rule(self, node) if rule else None
        return [node] if nodes is None else nodes

    def constant(self, name: str, default=None):
        """Return the value of a constant, or None if only a run knows it.

        Without a name, return the default.
        """
        if not name:
            return default
        t = self.constants.get(name)
        return None if t is None else array_of(t)

    def is_container(self, name: str) -> bool:
        """Return True for a sequence or optional."""
        kind = self.types[name].WhichOneof("value") if name in self.types else None
        known = name in self.lists or name in self.optionals
        return known or kind in ("sequence_type", "optional_type")

    def is_resolved(self, name: str) -> bool:
        """Return True unless the value is a sequence or optional of which nothing is known yet."""
        return name in self.lists or name in self.optionals or not self.is_container(name)

    def alias(self, out: str, source: str) -> Nodes:
        """Make `out` equal to another tensor, sequence or optional; return the nodes for that."""
        if source in self.lists:
            return self.make_list(out, self.lists[source], source if source in self.types else out)
        if source in self.optionals:
            self.optionals[out] = self.optionals[source]
        return [helper.make_node("Identity", [source], [out])]

    def make_list(self, out: str, elements: Sequence[str], like: str) -> Nodes:
        """Make `out` a sequence of these tensors, with the type of the sequence `like`."""
        self.lists[out] = list(elements)
        self.types[out] = self.types[like]
        dtype = self.types[like].sequence_type.elem_type.tensor_type.elem_type
        return [sequence_of(self.lists[out], out, dtype)]

    def copy_of(self, body: onnx.GraphProto, actuals: Sequence[str]) -> tuple[Nodes, list[str]]:
        """Return the rewritten nodes of a copy of a body, and the names of its outputs."""
        self.copies += 1
        prefix = f"{self.graph.name}.{len(self.graph.node)}.{self.copies}."
        nodes, outputs = _inline_body(body, actuals, prefix)
        return [new for node in nodes for new in self.rewritten(node)], outputs

    def split_outputs(self) -> Nodes:
        """Replace each graph output that is resolved by one output per element.

        Returns:
            The nodes that compute these outputs.
        """
        outputs, nodes = list(self.graph.output), []
        del self.graph.output[:]
        for info in outputs:
            name = info.name
            if name in self.optionals:  # a tensor, or nothing
                inner = self.optionals[name]
                sources = [] if inner is None else self.lists.get(inner, [inner])
            elif name in self.lists:
                sources = self.lists[name]
            else:
                self.graph.output.append(info)
                continue
            for i, source in enumerate(sources):
                nodes.append(helper.make_node("Identity", [source], [f"{name}/{i}"]))
                dtype = tensor_of(info.type).tensor_type.elem_type
                value = helper.make_tensor_value_info(f"{name}/{i}", dtype, None)
                self.graph.output.append(value)
        return nodes


def _inline_body(
    body: onnx.GraphProto, actuals: Sequence[str], prefix: str
) -> tuple[list[onnx.NodeProto], list[str]]:
    """Return copies of the nodes of a body, and the names of its outputs in them.

    Args:
        body: a subgraph.
        actuals: names of its inputs' values in the graph around it.
        prefix: beginning of names for values that the body computes; captured values keep theirs.
    """
    names = dict(zip((i.name for i in body.input), actuals, strict=True))
    nodes = []
    for tensor in body.initializer:
        names[tensor.name] = prefix + tensor.name
        nodes.append(helper.make_node("Constant", [], [prefix + tensor.name], value=tensor))
    for node in body.node:
        names.update((out, prefix + out) for out in node.output if out)
    nodes += [_renamed(node, names) for node in body.node]
    outputs = []
    for out in body.output:
        outputs.append(names.get(out.name, out.name))
    return nodes, outputs


def _renamed(node, names):
    copy = copied(node)
    copy.input[:] = [names.get(name, name) for name in node.input]
    copy.output[:] = [names.get(name, name) for name in node.output]
    for attribute in copy.attribute:
        if attribute.HasField("g"):
            _rename_captured(attribute.g, names)
    return copy


def _rename_captured(graph, names):
    """Rename values that a nested subgraph captures, in place; its own names hide outer ones."""
    own = {v.name for v in [*graph.input, *graph.initializer]}
    own.update(out for node in graph.node for out in node.output)
    outer = {old: new for old, new in names.items() if old not in own}
    set_all(graph.node, [_renamed(node, outer) for node in graph.node])
    for out in graph.output:
        out.name = outer.get(out.name, out.name)
