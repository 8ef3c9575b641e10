"""Resolve the operators of sequences and optionals, one rule per operator, for sequences.py.

A rule takes the resolver (r) and a node. It returns the nodes that replace the node, or None if
too little is known yet.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper, numpy_helper

from ..shapes.bodies import always_continues
from . import keep

_MOST_ROUNDS = 256  # of a Loop that is unrolled
Nodes = list[onnx.NodeProto]


def sequence_of(names, out, dtype) -> onnx.NodeProto:
    """Return a node that makes the sequence `out` of the tensors with these names."""
    if names:
        return helper.make_node("SequenceConstruct", names, [out])
    return helper.make_node("SequenceEmpty", [], [out], dtype=dtype)


def tensor_of(kind):
    """Return the type of the tensors in a sequence or optional."""
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
    elements = r.lists.get(node.input[0])
    at = r.constant(node.input[2] if len(node.input) > 2 else "", np.int64(len(elements or ())))
    if elements is None or at is None:
        return None
    elements = list(elements)
    position = int(at.item())
    elements.insert(position if position >= 0 else len(elements) + position, node.input[1])
    return r.make_list(node.output[0], elements, node.input[0])


def _erase(r, node):
    elements = r.lists.get(node.input[0])
    at = r.constant(node.input[1] if len(node.input) > 1 else "", np.int64(-1))
    if elements is None or at is None:
        return None
    elements = [x for i, x in enumerate(elements) if i != at.item() % len(elements)]
    return r.make_list(node.output[0], elements, node.input[0])


def _at(r, node):
    elements, at = r.lists.get(node.input[0]), r.constant(node.input[1])
    if elements is None or at is None or not -len(elements) <= at.item() < len(elements):
        return None
    return [helper.make_node("Identity", [elements[int(at.item())]], [node.output[0]])]


def _length(r, node):
    if node.input[0] not in r.lists:
        return None
    elements = r.lists[node.input[0]]
    return _answer(r, node, elements, np.int64(len(elements)))


def _answer(r, node, tensors, value):
    """Return a node for a value that follows from a list of tensors, such as its length.

    At level 0 of --optimize the device computes it, unless a lowering must know it.

    Args:
        r: the resolver.
        node: the operator on a sequence.
        tensors: names of the tensors.
        value: the value.
    """
    out = node.output[0]
    keeps = r.context.keeps_operators
    if not keeps or out in keep.needed(r.graph, r.context.operators):
        return [_constant_node(out, value)]
    dtype = helper.np_dtype_to_tensor_dtype(np.asarray(value).dtype)
    return [helper.make_node("Given", tensors, [out], domain=keep.DOMAIN, to=dtype)]


def _with_axis(r, op, source, out, axis):
    """Return Squeeze or Unsqueeze nodes with one axis, which is an input from opset 13 on."""
    if r.opset < 13:
        return [helper.make_node(op, [source], [out], axes=[axis])]
    axes = _constant_node(f"{out}/axes", np.int64([axis]))
    return [axes, helper.make_node(op, [source, axes.output[0]], [out])]


def _identity(r, node):
    if not r.is_container(node.input[0]):
        return None
    if node.input[0] in r.optionals:
        r.optionals[node.output[0]] = r.optionals[node.input[0]]
        return [node]
    return r.alias(node.output[0], node.input[0]) if r.is_resolved(node.input[0]) else None


def _concat(r, node):
    elements, a = r.lists.get(node.input[0]), _attributes(node)
    if elements is None:
        return None
    axis = a["axis"]
    if not a.get("new_axis", 0):
        return [helper.make_node("Concat", elements, [node.output[0]], axis=axis)]
    nodes: Nodes = []
    lifted = [f"{node.output[0]}/{i}" for i in range(len(elements))]
    for source, out in zip(elements, lifted, strict=True):
        nodes += _with_axis(r, "Unsqueeze", source, out, axis)
    return [*nodes, helper.make_node("Concat", lifted, [node.output[0]], axis=axis)]


def _split(r, node):
    a = _attributes(node)
    x, axis = node.input[0], a.get("axis", 0)
    dims = r.types[x].tensor_type.shape.dim if x in r.types else ()
    lengths = r.constant(node.input[1] if len(node.input) > 1 else "", np.int64(1))
    if not dims or not dims[axis].HasField("dim_value") or lengths is None:
        return None
    size = dims[axis].dim_value
    if lengths.ndim == 0:  # parts of one length, the last one may be shorter
        length = int(lengths)
        lengths = np.int64([min(length, size - start) for start in range(0, size, length)])
    out = node.output[0]
    parts = [f"{out}/piece{i}" for i in range(len(lengths))]
    if r.opset < 13:
        nodes = [helper.make_node("Split", [x], parts, axis=axis, split=lengths)]
    else:
        nodes = [_constant_node(f"{out}/lengths", np.int64(lengths))]
        nodes += [helper.make_node("Split", [x, f"{out}/lengths"], parts, axis=axis)]
    if len(node.input) < 2 and not a.get("keepdims", 1):
        narrow = [f"{part}/squeezed" for part in parts]
        for part, name in zip(parts, narrow, strict=True):
            nodes += _with_axis(r, "Squeeze", part, name, axis)
        parts = narrow
    return nodes + r.make_list(out, parts, out)


def _optional(r, node):
    r.optionals[node.output[0]] = node.input[0] if node.input and node.input[0] else None
    return [node]


def _has_element(r, node):
    name = node.input[0] if node.input else ""
    if not r.is_resolved(name):
        return None
    inner = r.optionals.get(name, name) if name else None
    tensors = [] if inner is None else r.lists.get(inner, [inner])[:1]
    if inner is not None and not tensors:  # a sequence without tensors
        return [_constant_node(node.output[0], np.array(True))]
    return _answer(r, node, tensors, np.array(inner is not None))


def _get_element(r, node):
    name = node.input[0]
    if not r.is_resolved(name):
        return None
    source = r.optionals.get(name, name)
    return None if source is None else r.alias(node.output[0], source)


def _map(r, node):
    body = _attributes(node)["body"]
    if not all(r.is_resolved(name) for name in node.input):
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
    """Unroll a Loop that carries or stacks sequences or optionals; other Loops stay."""
    body = _attributes(node)["body"]
    states = list(node.input[2:])
    if not any(r.is_container(name) for name in [*states, *node.output]):
        return None
    trips = r.constant(node.input[0])
    ready = all(r.is_resolved(name) for name in states)
    if not ready or trips is None or trips.item() > _MOST_ROUNDS:
        return None
    if not always_continues(body, node.input[1] if len(node.input) > 1 else "", r.constants):
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
        nodes += r.alias(out, state)
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
        if not any(r.is_container(name) for name in node.output):
            return None
        return _if_of_elements(r, node, [a["then_branch"], a["else_branch"]])
    nodes, outputs = r.copy_of(a["then_branch" if condition.item() else "else_branch"], [])
    for out, name in zip(node.output, outputs, strict=True):
        nodes += (
            r.alias(out, name)
            if r.is_resolved(name)
            else [helper.make_node("Identity", [name], [out])]
        )
    return nodes


def _if_of_elements(r, node, branches):
    """Return an If of tensors if both branches compute sequences of equal lengths, else None."""
    copies = [r.copy_of(branch, []) for branch in branches]
    lists = [[r.lists.get(name) for name in outputs] for _, outputs in copies]
    if any(None in branch for branch in lists):
        return None
    lengths = [[len(elements) for elements in branch] for branch in lists]
    if lengths[0] != lengths[1]:
        return None
    graphs = []
    for (nodes, outputs), branch in zip(copies, lists, strict=True):
        values = []
        for name, out, elements in zip(node.output, outputs, branch, strict=True):
            dtype = tensor_of(r.types[name]).tensor_type.elem_type
            for k, element in enumerate(elements):
                nodes.append(helper.make_node("Identity", [element], [f"{out}/element{k}"]))
                values.append(helper.make_tensor_value_info(f"{out}/element{k}", dtype, None))
        graphs.append(helper.make_graph(nodes, "branch", [], values))
    results_of_if: Nodes = []
    for out, n in zip(node.output, lengths[0], strict=True):
        results_of_if += r.make_list(out, [f"{out}/element{i}" for i in range(n)], out)
    elements = [name for out in node.output for name in r.lists[out]]
    branches = {"then_branch": graphs[0], "else_branch": graphs[1]}
    return [helper.make_node("If", node.input[:1], elements, **branches), *results_of_if]


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
