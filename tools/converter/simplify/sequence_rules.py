"""What simplify/sequences makes of each operator, where it can say something.

A rule gets the resolver and the node, and returns the nodes in its place, or None: not yet.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..shapes.loops import always
from . import keep

_MOST_ROUNDS = 256  # of a Loop that is written out
Nodes = list[onnx.NodeProto]


def sequence_of(names, out, dtype) -> onnx.NodeProto:
    """The node that makes a sequence of these tensors."""
    if names:
        return helper.make_node("SequenceConstruct", names, [out])
    return helper.make_node("SequenceEmpty", [], [out], dtype=dtype)


def tensor_of(kind):
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
    items = r.lists[node.input[0]]
    return _answer(r, node, items, np.int64(len(items)))


def _answer(r, node, given, value):
    """What is known of some tensors; at level 0 of --optimize the device says it, if it can."""
    out = node.output[0]
    keeps = r.context.keeps_operators
    if not keeps or out in keep.needed(r.graph, r.context.operators):
        return [_constant_node(out, value)]
    dtype = helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype)
    return [helper.make_node("Given", given, [out], domain=keep.DOMAIN, to=dtype)]


def _with_axis(r, op, source, out, axis):
    """Squeeze or Unsqueeze: from opset 13 on, the axis is an input."""
    if r.opset < 13:
        return [helper.make_node(op, [source], [out], axes=[axis])]
    axes = _constant_node(f"{out}/axes", np.int64([axis]))
    return [axes, helper.make_node(op, [source, axes.output[0]], [out])]


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
    nodes: Nodes = []
    lifted = [f"{node.output[0]}/{i}" for i in range(len(items))]
    for source, out in zip(items, lifted, strict=True):
        nodes += _with_axis(r, "Unsqueeze", source, out, axis)
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
    if r.opset < 13:
        nodes = [helper.make_node("Split", [x], pieces, axis=axis, split=lengths)]
    else:
        nodes = [_constant_node(f"{out}/lengths", np.int64(lengths))]
        nodes += [helper.make_node("Split", [x, f"{out}/lengths"], pieces, axis=axis)]
    if len(node.input) < 2 and not a.get("keepdims", 1):
        narrow = [f"{piece}/squeezed" for piece in pieces]
        for piece, name in zip(pieces, narrow, strict=True):
            nodes += _with_axis(r, "Squeeze", piece, name, axis)
        pieces = narrow
    return nodes + r.make_list(out, pieces, out)


def _optional(r, node):
    r.optionals[node.output[0]] = node.input[0] if node.input and node.input[0] else None
    return [node]


def _has_element(r, node):
    name = node.input[0] if node.input else ""
    if not r.settled(name):
        return None
    inner = r.optionals.get(name, name) if name else None
    given = [] if inner is None else r.lists.get(inner, [inner])[:1]
    if inner is not None and not given:  # a sequence without tensors
        return [_constant_node(node.output[0], np.array(True))]
    return _answer(r, node, given, np.array(inner is not None))


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
            dtype = tensor_of(r.types[name]).tensor_type.elem_type
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


RULES = {
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
