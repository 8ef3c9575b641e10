"""Nodes that onnx's inference misjudges: each fault, its opsets, and the text of ONNX.

For these nodes onnx infers another shape than the operator's text and onnxruntime have, infers
none, or refuses what the text allows. They are hidden from onnx by a domain that it does not know.
The rules of extent_rules.py infer their shapes instead, before any declaration is used, and
declared shapes of values that depend on them are removed. To handle one more fault, add an entry
to FAULTS, and a rule if the operator has none. What can be written in a form that onnx judges
correctly is rewritten when a model is loaded: load/old_axes.py, and load/__init__.py for pads
beside auto_pad and the axes of MeanVarianceNormalization.

Where only onnxruntime differs from the text, the shape is onnx's, or the node is refused: it
squeezes all dims for empty axes (ops/squeeze.py), reads the largest integer as the end of a slice
that runs backwards as "to the first", ignores keep_aspect_ratio_policy for negative axes, and
broadcasts PRelu's slope both ways.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import onnx
from onnx import helper

from ..external_weights import array_of
from ..ops import OWN
from ..protos import attributes_of, bodies_of, nodes_of, opset_of, set_all

_HIDDEN = "mpconnxr.hidden."  # prefix of their domain while onnx infers
_ONNX = ("", "ai.onnx")
_INTEGERS = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
_POOLS = ("AveragePool", "LpPool", "MaxPool")

_FAR = 1 << 20  # of a step: more than the elements of any list whose contents onnx follows
_SHORT = 64  # elements

Attributes = dict[str, Any]
Constants = dict[str, list[int]]


@dataclass(frozen=True)
class Fault:
    """A fault of onnx's inference.

    Attributes:
        operators: ONNX's operators that have it, and operators of this project whose names contain
            one of these, because their functions use it.
        since, until: first and last opset with the fault.
        text: shape by the operator's text.
        inferred: shape that onnx infers instead.
        is_met: is_met(node, attributes, constants) returns True for a node that may meet the
            fault; constants are the model's short ones.
    """

    operators: tuple[str, ...]
    since: int
    until: float
    text: str
    inferred: str
    is_met: Callable[[onnx.NodeProto, Attributes, Constants], bool]


def _has_ceil_mode(node, a, constants):
    """Return True for ceil_mode whose other attributes fit it; onnx is to refuse others."""
    if not a.get("ceil_mode") or "kernel_shape" not in a:
        return False
    n = len(a["kernel_shape"])
    strides, pads = a.get("strides", [1] * n), a.get("pads", [0] * 2 * n)
    sizes = [len(strides), len(a.get("dilations", strides)), len(pads)]
    return sizes == [n, n, 2 * n] and 0 not in strides


def _pads_output_same(node, a, constants):
    same = a.get("auto_pad", b"").startswith(b"SAME") and "output_shape" not in a
    return same and any(a.get("output_padding", ()))


def _may_step_far(node, a, constants):
    """Return True for a Slice whose steps are large or unknown."""
    if len(node.input) < 5 or not node.input[4]:
        return False
    steps = constants.get(node.input[4])
    return steps is None or any(abs(step) > _FAR for step in steps)


_NEWEST = float("inf")
FAULTS = (
    Fault(
        _POOLS,
        10,
        _NEWEST,
        "with ceil_mode no window begins in the padding at the end; said from opset 22 on, done "
        "by onnxruntime and PyTorch at every opset; a window larger than the input is none",
        "keeps such windows below opset 22, and at every opset rounds -1 / 2 to 0",
        _has_ceil_mode,
    ),
    Fault(
        ("ConvTranspose",),
        1,
        _NEWEST,
        "auto_pad SAME pads so that output_shape[i] = input_shape[i] * strides[i]",
        "adds output_padding to it",
        _pads_output_same,
    ),
    Fault(
        ("Einsum",),
        12,
        _NEWEST,
        "the dims of ellipses broadcast",
        "refuses ellipses that stand for other numbers of dims",
        lambda node, a, constants: b"..." in a.get("equation", b""),
    ),
    Fault(
        ("STFT",),
        17,
        _NEWEST,
        "onesided is 1 by default",
        "takes 0 where it is left out",
        lambda node, a, constants: "onesided" not in a,
    ),
    Fault(
        ("Slice",),
        10,
        _NEWEST,
        "steps may be as large as an integer can be",
        "counts beyond the largest integer where it follows contents: takes all memory, crashes",
        _may_step_far,
    ),
    Fault(
        ("Squeeze",),
        1,
        10,
        "axes come in any order",
        "keeps the dims of axes that stand behind larger ones",
        lambda node, a, constants: list(a.get("axes", ())) != sorted(a.get("axes", ())),
    ),
    Fault(
        ("Squeeze", "Unsqueeze"),
        1,
        10,
        "axes below zero count from the end; said from opset 11 on, done by onnxruntime before",
        "keeps dims that go, or puts new ones elsewhere",
        lambda node, a, constants: any(axis < 0 for axis in a.get("axes", ())),
    ),
)


def fault_of(node: onnx.NodeProto, opset: int, constants: Constants) -> Fault | None:
    """Return the fault that a node meets, None if onnx may infer its shape.

    Args:
        node: a node of any domain.
        opset: version of ONNX's domain.
        constants: integers of short constants, by name.
    """
    a: Attributes | None = None
    for fault in FAULTS:
        if _is_of(node, fault, opset):
            a = attributes_of(node) if a is None else a
            if fault.is_met(node, a, constants):
                return fault
    return None


def constants_of(model: onnx.ModelProto) -> Constants:
    """Return the integers of short constants by name, also of those in bodies.

    If bodies use one name twice, it has the integers of all of them.
    """
    integers: Constants = {}
    for name, t in _tensors(model.graph):
        if t.data_type in _INTEGERS and math.prod(t.dims) <= _SHORT:
            integers.setdefault(name, []).extend(array_of(t).reshape(-1).tolist())
    return integers


def _tensors(graph):
    for t in graph.initializer:
        yield t.name, t
    for node in graph.node:
        if node.op_type == "Constant":
            yield from ((node.output[0], a.t) for a in node.attribute if a.name == "value")
        for body in bodies_of(node):
            yield from _tensors(body)


def _is_of(node, fault, opset):
    if node.domain in _ONNX:
        return node.op_type in fault.operators and fault.since <= opset <= fault.until
    return node.domain == OWN and any(name in node.op_type for name in fault.operators)


def in_model(model: onnx.ModelProto) -> Callable[[onnx.NodeProto], bool]:
    """Return a function of a node: True for one of ONNX's operators that onnx misjudges."""
    opset_and_constants = opset_of(model, ""), constants_of(model)
    return lambda node: node.domain in _ONNX and fault_of(node, *opset_and_constants) is not None


@contextmanager
def hidden(model: onnx.ModelProto) -> Iterator[None]:
    """Hide misjudged nodes, also in bodies, for a while; `reveal` a model made meanwhile."""
    hide(model)
    try:
        yield
    finally:
        reveal(model)


def hide(model: onnx.ModelProto) -> None:
    """Give nodes that onnx misjudges a domain that it does not know, in place."""
    opset_and_constants = opset_of(model, ""), constants_of(model)
    domains = set()
    for node in list(nodes_of(model.graph)):
        if fault_of(node, *opset_and_constants):
            node.domain = _HIDDEN + node.domain
            domains.add(node.domain)
    model.opset_import.extend(helper.make_opsetid(name, 1) for name in sorted(domains))


def reveal(model: onnx.ModelProto) -> None:
    """Undo `hide`, in place."""
    kept = [o for o in model.opset_import if not o.domain.startswith(_HIDDEN)]
    if len(kept) == len(model.opset_import):
        return
    for node in nodes_of(model.graph):
        node.domain = node.domain.removeprefix(_HIDDEN)
    set_all(model.opset_import, kept)


def forget(model: onnx.ModelProto) -> None:
    """Remove the shapes of inner values that depend on misjudged nodes, in place."""
    _forget(model.graph, (opset_of(model, ""), constants_of(model)), set())


def _forget(graph, opset_and_constants, tainted):
    """Collect values that depend on misjudged nodes in `tainted`, and remove their shapes."""
    for node in graph.node:
        inside = [_forget(body, opset_and_constants, tainted) for body in bodies_of(node)]
        if any(inside) or tainted.intersection(node.input) or fault_of(node, *opset_and_constants):
            tainted.update(node.output)
    if not tainted:
        return False
    set_all(graph.value_info, [v for v in graph.value_info if v.name not in tainted])
    for info in graph.output:
        if info.name in tainted and info.type.HasField("tensor_type"):
            info.type.tensor_type.ClearField("shape")
    return any(name in tainted for node in graph.node for name in node.output)
