"""Sequences and optionals resolved: a device sees tensors only.

Where the length of a sequence is known, it is a list of tensors, and every operator on it just
picks from that list:

1. SequenceInsert, -Erase, -At, -Length, Identity and the Optional operators go away; positions
   must be constants. What makes a list is SequenceConstruct then, and dead once no one reads it.
2. SplitToSequence becomes Split (and Squeeze), ConcatFromSequence Concat (and Unsqueeze).
3. SequenceMap becomes a copy of its body for each element; a Loop that carries a sequence becomes
   one for each round; an If of a known condition becomes the branch it takes, another one gives
   the elements of its branches one by one.
4. Graph outputs become one output an element, named NAME/0, NAME/1, ...; `split_inputs` does so
   for graph inputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import helper

from ..context import Context
from ..errors import ConvertError
from ..external_weights import array_of
from ..protos import captured, copied, opset_of, set_all
from .inline import inline_body
from .sequence_rules import RULES, Nodes, sequence_of, tensor_of

_MAKERS = ("SequenceConstruct", "SequenceEmpty", "Optional")
OPERATORS = frozenset(RULES) - {"Identity", "If", "Loop"}


def split_inputs(model: onnx.ModelProto, shapes: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """Replaces the model's inputs that are sequences or optionals by tensors, in place.

    shapes: the elements' shapes by input; of an optional one shape, or none where it is absent.
    Raises ConvertError for an input that is not in shapes.
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
    """Tensor inputs for one input, and the nodes that make it of them."""
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
    """The model itself, or a copy in which what can be resolved now is."""
    graph = model.graph
    kinds = [o.type.WhichOneof("value") for o in graph.output]
    looked_at = OPERATORS | {"If"}
    if not any(n.op_type in looked_at for n in graph.node) and set(kinds) <= {"tensor_type"}:
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
    """The nodes but those that make a sequence or optional which nobody reads."""
    used = set(needed)
    for node in nodes:
        used.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                used.update(captured(attribute.g))
    return [n for n in nodes if n.op_type not in _MAKERS or n.output[0] in used]


class _Resolver:
    """lists: tensors' names by sequence; optionals: what is in them (a name, or None)."""

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
        """The nodes in its place: itself where nothing can be said yet."""
        rule = RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        found = rule(self, node) if rule else None
        return [node] if found is None else found

    def constant(self, name: str, default=None):
        """A constant's value; None where only run time knows it."""
        if not name:
            return default
        t = self.constants.get(name)
        return None if t is None else array_of(t)

    def carries(self, name: str) -> bool:
        """True for a sequence or optional."""
        kind = self.types[name].WhichOneof("value") if name in self.types else None
        known = name in self.lists or name in self.optionals
        return known or kind in ("sequence_type", "optional_type")

    def settled(self, name: str) -> bool:
        """True unless it is a sequence or optional about which nothing is known yet."""
        return name in self.lists or name in self.optionals or not self.carries(name)

    def same(self, out: str, source: str) -> Nodes:
        """out is source, whatever that is."""
        if source in self.lists:
            return self.make_list(out, self.lists[source], source if source in self.types else out)
        if source in self.optionals:
            self.optionals[out] = self.optionals[source]
        return [helper.make_node("Identity", [source], [out])]

    def make_list(self, out: str, items: Sequence[str], like: str) -> Nodes:
        """out is a sequence of these tensors, of the same type as another one."""
        self.lists[out] = list(items)
        self.types[out] = self.types[like]
        dtype = self.types[like].sequence_type.elem_type.tensor_type.elem_type
        return [sequence_of(self.lists[out], out, dtype)]

    def copy_of(self, body: onnx.GraphProto, actuals: Sequence[str]) -> tuple[Nodes, list[str]]:
        """A copy of a body with these inputs, rewritten; and the names of its outputs."""
        self.copies += 1
        prefix = f"{self.graph.name}.{len(self.graph.node)}.{self.copies}."
        nodes, outputs = inline_body(body, actuals, prefix)
        return [new for node in nodes for new in self.rewritten(node)], outputs

    def split_outputs(self) -> Nodes:
        """One graph output for each element of those that are lists."""
        outputs, nodes = list(self.graph.output), []
        del self.graph.output[:]
        for info in outputs:
            name = info.name
            if name in self.optionals:  # of a tensor, or absent
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
