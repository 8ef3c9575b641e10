"""Shapes of pools with ceil_mode, of which onnx's inference has too many windows.

A window that would begin in the padding at the end is dropped. ONNX says so from opset 22 on;
onnxruntime and PyTorch do it at every opset. onnx's inference keeps it below 22, and at every
opset rounds sizes below zero to zero. So these nodes are hidden from it, this project's with such
a pool inside as well, and what was declared of values that follow from them is forgotten.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import onnx
from onnx import helper

from ..errors import ConvertError
from ..ops import OWN
from ..protos import attributes_of, bodies_of, name_of, nodes_of, set_all
from . import window_rules
from .types import declare_new, known_values

POOLS = ("AveragePool", "LpPool", "MaxPool")
_HIDDEN = "mpconnxr.ceil."  # before their domain while onnx infers
_ONNX = ("", "ai.onnx")


def annotate(model: onnx.ModelProto) -> bool:
    """Declare the outputs of these pools whose inputs are known; return True if that is new."""
    graph = model.graph
    changed = False
    for node in _pools(graph.node):
        if node.domain not in _ONNX:  # infer_declared says their shapes
            continue
        known = known_values(graph)
        if node.input[0] in known and any(name and name not in known for name in node.output):
            _check(node, known[node.input[0]])
            values = window_rules.pool(None, node, known[node.input[0]])
            changed |= declare_new(graph, node, values, known)
    return changed


@contextmanager
def hidden(model: onnx.ModelProto) -> Iterator[None]:
    """Hide these pools from onnx, bodies included; `reveal` a model that it made of this one."""
    hide(model)
    try:
        yield
    finally:
        reveal(model)


def hide(model: onnx.ModelProto) -> None:
    """Give these pools a domain that onnx does not know, in place."""
    domains = set()
    for node in list(_pools(nodes_of(model.graph))):
        node.domain = _HIDDEN + node.domain
        domains.add(node.domain)
    model.opset_import.extend(helper.make_opsetid(name, 1) for name in sorted(domains))


def reveal(model: onnx.ModelProto) -> None:
    """Undo `hide`."""
    kept = [o for o in model.opset_import if not o.domain.startswith(_HIDDEN)]
    if len(kept) == len(model.opset_import):
        return
    for node in nodes_of(model.graph):
        node.domain = node.domain.removeprefix(_HIDDEN)
    set_all(model.opset_import, kept)


def forget(model: onnx.ModelProto) -> None:
    """Remove, in place, the shapes of inner values that follow from these pools."""
    _forget(model.graph, set())


def _pools(nodes):
    return (node for node in nodes if _has_ceil_mode(node))


def _has_ceil_mode(node):
    """True if onnx must not infer the node; one whose attributes contradict each other it may."""
    if "Pool" not in node.op_type or node.domain not in (*_ONNX, OWN):
        return False
    a = attributes_of(node)
    if not a.get("ceil_mode") or "kernel_shape" not in a:
        return False
    n = len(a["kernel_shape"])
    strides, pads = a.get("strides", [1] * n), a.get("pads", [0] * 2 * n)
    sizes = [len(strides), len(a.get("dilations", strides)), len(pads)]
    return sizes == [n, n, 2 * n] and 0 not in strides


def _check(node, x):
    rank, n = len(x[1]), len(attributes_of(node)["kernel_shape"])
    if rank != n + 2:
        text = f"kernel_shape of {node.op_type} {name_of(node)} has {n} dims, its input {rank}"
        raise ConvertError(f"the model is inconsistent: {text}")


def _forget(graph, tainted):
    """Collect in tainted what follows from these pools, bodies included, and remove its shapes."""
    for node in graph.node:
        inside = [_forget(body, tainted) for body in bodies_of(node)]
        if any(inside) or tainted.intersection(node.input) or any(_pools([node])):
            tainted.update(node.output)
    if not tainted:
        return False
    set_all(graph.value_info, [v for v in graph.value_info if v.name not in tainted])
    for info in graph.output:
        if info.name in tainted and info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    return any(name in tainted for node in graph.node for name in node.output)
