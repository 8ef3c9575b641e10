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

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..errors import ConvertError
from .inline import captured, inline_body
from .loops import always

_MOST_ROUNDS = 256  # of a Loop that is written out
Nodes = list[onnx.NodeProto]


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
    nodes = head + list(graph.node)
    del graph.node[:]
    graph.node.extend(nodes)


def _build(graph, info, shapes) -> Nodes:
    """Tensor inputs for one input, and the nodes that make it of them."""
    kind, inner = info.type.WhichOneof("value"), info.type
    if kind == "optional_type":
        inner = info.type.optional_type.elem_type
    is_sequence = inner.HasField("sequence_type")
    dtype = _tensor_of(inner).tensor_type.elem_type
    names = [f"{info.name}/{i}" for i in range(len(shapes))]
    for name, shape in zip(names, shapes, strict=True):
        graph.input.append(helper.make_tensor_value_info(name, dtype, list(shape)))
    if kind == "sequence_type":
        return [_sequence_of(names, info.name, dtype)]
    if not names:
        return [helper.make_node("Optional", [], [info.name], type=inner)]
    if not is_sequence:
        return [helper.make_node("Optional", names, [info.name])]
    whole = f"{info.name}/all"
    return [_sequence_of(names, whole, dtype), helper.make_node("Optional", [whole], [info.name])]


def _sequence_of(names, out, dtype) -> onnx.NodeProto:
    if names:
        return helper.make_node("SequenceConstruct", names, [out])
    return helper.make_node("SequenceEmpty", [], [out], dtype=dtype)


def resolve(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model itself, or a copy in which what can be resolved now is."""
    graph = model.graph
    kinds = [o.type.WhichOneof("value") for o in graph.output]
    looked_at = OPERATORS | {"If"}
    if not any(n.op_type in looked_at for n in graph.node) and set(kinds) <= {"tensor_type"}:
        return model
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    resolver = _Resolver(copy)
    nodes = [new for node in graph.node for new in resolver.rewritten(node)]
    nodes += resolver.split_outputs()
    nodes = _without_dead(nodes, {o.name for o in copy.graph.output})
    if nodes == list(graph.node) and len(copy.graph.output) == len(graph.output):
        return model
    del copy.graph.node[:], copy.graph.value_info[:]
    copy.graph.node.extend(nodes)
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

    def __init__(self, model):
        self.graph = model.graph
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
        rule = _RULES.get(node.op_type) if node.domain in ("", "ai.onnx") else None
        found = rule(self, node) if rule else None
        return [node] if found is None else found

    def constant(self, name: str, default=None):
        """A constant's value; None where only run time knows it."""
        if not name:
            return default
        t = self.constants.get(name)
        return None if t is None else numpy_helper.to_array(t)

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
            return self.make_list(out, self.lists[source], source)
        if source in self.optionals:
            self.optionals[out] = self.optionals[source]
        return [helper.make_node("Identity", [source], [out])]

    def make_list(self, out: str, items: Sequence[str], like: str) -> Nodes:
        """out is a sequence of these tensors, of the same type as another one."""
        self.lists[out] = list(items)
        self.types[out] = self.types[like]
        dtype = self.types[like].sequence_type.elem_type.tensor_type.elem_type
        return [_sequence_of(self.lists[out], out, dtype)]

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
                dtype = _tensor_of(info.type).tensor_type.elem_type
                value = helper.make_tensor_value_info(f"{name}/{i}", dtype, None)
                self.graph.output.append(value)
        return nodes


def _tensor_of(kind):
    """The type of the tensors in a sequence or optional."""
    while kind.WhichOneof("value") != "tensor_type":
        kind = getattr(kind, kind.WhichOneof("value")).elem_type
    return kind


def _attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def _constant_node(name, value):
    tensor = numpy_helper.from_array(np.asarray(value))
    return helper.make_node("Constant", [], [name], value=tensor)


def _construct(r, node):
    r.lists[node.output[0]] = list(node.input)
    return [node]


def _empty(r, node):
    r.lists[node.output[0]] = []
    return [node]


def _insert(r, node):
    items = r.lists.get(node.input[0])
    at = r.constant(node.input[2] if len(node.input) > 2 else "", np.int64(len(items or ())))
    if items is None or at is None:
        return None
    items = list(items)
    position = int(at.item())
    items.insert(position if position >= 0 else len(items) + position, node.input[1])
    return r.make_list(node.output[0], items, node.input[0])


def _erase(r, node):
    items = r.lists.get(node.input[0])
    at = r.constant(node.input[1] if len(node.input) > 1 else "", np.int64(-1))
    if items is None or at is None:
        return None
    items = [x for i, x in enumerate(items) if i != at.item() % len(items)]
    return r.make_list(node.output[0], items, node.input[0])


def _at(r, node):
    items, at = r.lists.get(node.input[0]), r.constant(node.input[1])
    if items is None or at is None or not -len(items) <= at.item() < len(items):
        return None
    return [helper.make_node("Identity", [items[int(at.item())]], [node.output[0]])]


def _length(r, node):
    if node.input[0] not in r.lists:
        return None
    return [_constant_node(node.output[0], np.int64(len(r.lists[node.input[0]])))]


def _identity(r, node):
    if not r.carries(node.input[0]):
        return None
    if node.input[0] in r.optionals:
        r.optionals[node.output[0]] = r.optionals[node.input[0]]
        return [node]
    return r.same(node.output[0], node.input[0]) if r.settled(node.input[0]) else None


def _concat(r, node):
    items, a = r.lists.get(node.input[0]), _attributes(node)
    if items is None:
        return None
    axis = a["axis"]
    if not a.get("new_axis", 0):
        return [helper.make_node("Concat", items, [node.output[0]], axis=axis)]
    axes = f"{node.output[0]}/axes"
    nodes = [_constant_node(axes, np.int64([axis]))]
    lifted = [f"{node.output[0]}/{i}" for i in range(len(items))]
    for source, out in zip(items, lifted, strict=True):
        nodes.append(helper.make_node("Unsqueeze", [source, axes], [out]))
    return [*nodes, helper.make_node("Concat", lifted, [node.output[0]], axis=axis)]


def _split(r, node):
    a = _attributes(node)
    x, axis = node.input[0], a.get("axis", 0)
    dims = r.types[x].tensor_type.shape.dim if x in r.types else ()
    given = r.constant(node.input[1] if len(node.input) > 1 else "", np.int64(1))
    if not dims or not dims[axis].HasField("dim_value") or given is None:
        return None
    size, lengths = dims[axis].dim_value, given
    if given.ndim == 0:  # pieces of this length, the last one of what is left
        n = -(-size // int(given))
        lengths = np.int64([min(int(given), size - i * int(given)) for i in range(n)])
    out = node.output[0]
    pieces = [f"{out}/piece{i}" for i in range(len(lengths))]
    nodes = [
        _constant_node(f"{out}/lengths", np.int64(lengths)),
        helper.make_node("Split", [x, f"{out}/lengths"], pieces, axis=axis),
    ]
    if len(node.input) < 2 and not a.get("keepdims", 1):
        nodes.append(_constant_node(f"{out}/axes", np.int64([axis])))
        narrow = [f"{piece}/squeezed" for piece in pieces]
        for piece, name in zip(pieces, narrow, strict=True):
            nodes.append(helper.make_node("Squeeze", [piece, f"{out}/axes"], [name]))
        pieces = narrow
    return nodes + r.make_list(out, pieces, out)


def _optional(r, node):
    r.optionals[node.output[0]] = node.input[0] if node.input and node.input[0] else None
    return [node]


def _has_element(r, node):
    name = node.input[0] if node.input else ""
    if not r.settled(name):
        return None
    present = bool(name) and r.optionals.get(name, name) is not None
    return [_constant_node(node.output[0], np.array(present))]


def _get_element(r, node):
    name = node.input[0]
    if not r.settled(name):
        return None
    source = r.optionals.get(name, name)
    return None if source is None else r.same(node.output[0], source)


def _map(r, node):
    body = _attributes(node)["body"]
    if not all(r.settled(name) for name in node.input):
        return None
    results: list[list[str]] = [[] for _ in node.output]
    nodes: Nodes = []
    for i in range(len(r.lists[node.input[0]])):
        actuals = [r.lists[name][i] if name in r.lists else name for name in node.input]
        new, outputs = r.copy_of(body, actuals)
        nodes += new
        for result, name in zip(results, outputs, strict=True):
            result.append(name)
    for out, result in zip(node.output, results, strict=True):
        nodes += r.make_list(out, result, out)
    return nodes


def _loop(r, node):
    """Written out only where it carries or stacks something else than tensors."""
    body = _attributes(node)["body"]
    states = list(node.input[2:])
    if not any(r.carries(name) for name in [*states, *node.output]):
        return None
    trips = r.constant(node.input[0])
    ready = all(r.settled(name) for name in states)
    if not ready or trips is None or trips.item() > _MOST_ROUNDS:
        return None
    if not always(body, node.input[1] if len(node.input) > 1 else "", r.constants):
        return None
    nodes: Nodes = []
    stacks: list[list[str]] = [[] for _ in node.output[len(states) :]]
    for i in range(int(trips.item())):
        at = [f"{node.output[0]}/round{i}", f"{node.output[0]}/go{i}"]
        nodes += [_constant_node(at[0], np.int64(i)), _constant_node(at[1], np.array(True))]
        new, outputs = r.copy_of(body, [*at, *states])
        nodes += new
        states = outputs[1 : 1 + len(states)]
        for stack, name in zip(stacks, outputs[1 + len(states) :], strict=True):
            stack.append(name)
    for out, state in zip(node.output, states, strict=False):
        nodes += r.same(out, state)
    for out, stack in zip(node.output[len(states) :], stacks, strict=True):
        whole = helper.make_node("SequenceConstruct", stack, [f"{out}/rounds"])
        joined = helper.make_node(
            "ConcatFromSequence", [f"{out}/rounds"], [out], axis=0, new_axis=1
        )
        nodes += [new for n in (whole, joined) for new in r.rewritten(n)]
    return nodes


def _if(r, node):
    a, condition = _attributes(node), r.constant(node.input[0])
    if condition is None:
        if not any(r.carries(name) for name in node.output):
            return None
        return _if_of_elements(r, node, [a["then_branch"], a["else_branch"]])
    nodes, outputs = r.copy_of(a["then_branch" if condition.item() else "else_branch"], [])
    for out, name in zip(node.output, outputs, strict=True):
        nodes += (
            r.same(out, name) if r.settled(name) else [helper.make_node("Identity", [name], [out])]
        )
    return nodes


def _if_of_elements(r, node, branches):
    """An If of tensors, where both branches give sequences of the same lengths."""
    copies = [r.copy_of(branch, []) for branch in branches]
    lists = [[r.lists.get(name) for name in outputs] for _, outputs in copies]
    if any(None in found for found in lists):
        return None
    lengths = [[len(items) for items in found] for found in lists]
    if lengths[0] != lengths[1]:
        return None
    graphs = []
    for (nodes, outputs), found in zip(copies, lists, strict=True):
        values = []
        for name, out, items in zip(node.output, outputs, found, strict=True):
            dtype = _tensor_of(r.types[name]).tensor_type.elem_type
            for k, item in enumerate(items):
                nodes.append(helper.make_node("Identity", [item], [f"{out}/element{k}"]))
                values.append(helper.make_tensor_value_info(f"{out}/element{k}", dtype, None))
        graphs.append(helper.make_graph(nodes, "branch", [], values))
    made: Nodes = []
    for out, n in zip(node.output, lengths[0], strict=True):
        made += r.make_list(out, [f"{out}/element{i}" for i in range(n)], out)
    elements = [name for out in node.output for name in r.lists[out]]
    branches = {"then_branch": graphs[0], "else_branch": graphs[1]}
    return [helper.make_node("If", node.input[:1], elements, **branches), *made]


_RULES = {
    "ConcatFromSequence": _concat,
    "Identity": _identity,
    "If": _if,
    "Loop": _loop,
    "Optional": _optional,
    "OptionalGetElement": _get_element,
    "OptionalHasElement": _has_element,
    "SequenceAt": _at,
    "SequenceConstruct": _construct,
    "SequenceEmpty": _empty,
    "SequenceErase": _erase,
    "SequenceInsert": _insert,
    "SequenceLength": _length,
    "SequenceMap": _map,
    "SplitToSequence": _split,
}
_MAKERS = ("SequenceConstruct", "SequenceEmpty", "Optional")
OPERATORS = frozenset(_RULES) - {"Identity", "If", "Loop"}
