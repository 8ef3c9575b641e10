"""Lower contents that follow from run-time shapes, and prove that lowered graphs follow them.

Lowerings compute with Extents as with ints, and code that was not written for them may turn one
into a plain number. So such a model is lowered twice, with different bounds. Every number that
differs between both graphs must be an Extent, with the same polynomial both times.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import Finding, Problem, UnsupportedModel
from ..ir import Graph, Step, Tensor, walk
from . import contents, extent, extent_forms

_KERNEL = "numbers"
_INTEGERS = (6, 7)


def lower_contents(node) -> bool:
    """Lower a node whose output follows from run-time shapes; return False for any other node."""
    if len(node.outputs) != 1 or node.outputs[0] is None or node.outputs[0].dtype not in _INTEGERS:
        return False
    out = node.outputs[0]
    values = _contents(node)
    if values is None or values.shape != out.shape:
        return False
    flat = values.reshape(-1).tolist()
    if not extent.any_open(flat):
        return False
    out.contents = values
    node.emit(_KERNEL, [], [out], elements=flat)
    return True


def _contents(node):
    if node.op in ("Shape", "Size") and node.inputs[0] is not None:
        shape = node.inputs[0].shape
        if node.op == "Size":
            return np.array(math.prod(shape), object)
        return contents.of_shape(shape, {"start": node.attr("start", 0), "end": node.attr("end")})
    known = [node.contents(i) for i in range(len(node.inputs))]
    return contents.evaluate(node.proto, known)


def drop_unused(graph: Graph) -> None:
    """Remove steps that compute contents which only shapes needed."""
    used = {t.root for step in walk(graph.steps) for t in step.inputs}
    used |= {t.root for t in graph.outputs}
    for steps in [graph.steps, *(body for step in walk(graph.steps) for body in step.bodies)]:
        steps[:] = [s for s in steps if s.kernel != _KERNEL or s.outputs[0].root in used]


def is_decided_by_runs(graph: Graph) -> bool:
    """Return True if a run decides any shape or parameter of the graph."""
    return any(t.is_open for t in graph.tensors()) or any(
        isinstance(p, extent.DimNumber) or extent.is_open(p)
        for step in walk(graph.steps)
        for p in step.params
    )


def check_follows(a: Graph, b: Graph) -> None:
    """Check that two lowered graphs differ only in the bounds of run-time dims.

    Args:
        a: graph of the model.
        b: graph of its twin, with other bounds.

    Raises:
        UnsupportedModel: with the steps and outputs that differ.
    """
    known: dict[Tensor, Tensor] = {}
    findings = _unset(a)
    doubted: set[Tensor] = set()  # differs because of an input that has a finding
    for step, other in _pairs(a.steps, b.steps, findings):
        if not _same_step(step, other, known):
            if doubted.isdisjoint(t.root for t in step.inputs):
                findings.append(_finding(step))
            doubted.update(t.root for t in step.outputs)
    ends = list(zip(a.inputs + a.outputs, b.inputs + b.outputs, strict=True))
    for x, y in ends:
        if not _same_tensor(x, y, known) and x.root not in doubted:
            findings.append(Finding("output", x.name, _problem()))
    if findings:
        advice = "--dim instead of --bound fixes the inputs' sizes"
        has_open_inputs = any(t.is_open for t in a.inputs)
        raise UnsupportedModel([_advised(f, advice) if has_open_inputs else f for f in findings])


def _advised(finding, advice):
    return Finding(finding.what, finding.name, Problem(finding.problem.reason, advice))


def _unset(graph):
    """Return findings for dims that no step sets, and for values larger than their memory."""
    steps = list(walk(graph.steps))
    numbers = {p.key for s in steps for p in s.params if isinstance(p, extent.DimNumber)}
    used = {key for t in graph.tensors() for d in t.shape for key in extent.dims_in(d)}
    used |= {key for s in steps for p in s.params for key in extent.dims_in(p)}
    of_inputs = {key for t in graph.inputs for d in t.shape for key in extent.dims_in(d)}
    findings = [
        Finding("run-time dim", name, Problem("no step decides it"))
        for name, _ in used - numbers - of_inputs
    ]
    for t in graph.tensors():
        if t.data is None and not t.is_open and t.planned_nbytes < t.nbytes:
            findings.append(Finding("memory", t.name, _problem()))
    return findings + [f for step in steps for f in _too_long(step)]


def _too_long(step):
    """Return a finding if the file cannot represent an extent of the step."""
    dims = [d for t in step.inputs + step.outputs + step.scratch for d in t.shape]
    try:
        for value in filter(extent.is_open, step.params + dims):
            extent_forms.postfix(value, lambda _: 0)
    except Problem as problem:
        operator, _, name = step.node.partition(" ")
        return [Finding(operator, name, problem)]
    return []


def _pairs(a, b, findings):
    a, b = list(walk(a)), list(walk(b))
    if len(a) != len(b):
        where = next((s for s, o in zip(a, b, strict=False) if s.kernel != o.kernel), (a or b)[-1])
        findings.append(_finding(where))
        return []
    return list(zip(a, b, strict=True))


def _finding(step: Step):
    return Finding(step.node.partition(" ")[0], step.node.partition(" ")[2], _problem())


def _problem():
    return Problem("it cannot follow a run-time extent")


def _same_step(a, b, known):
    if (a.kernel, a.node, len(a.params)) != (b.kernel, b.node, len(b.params)):
        return False
    groups = [(a.inputs, b.inputs), (a.outputs, b.outputs), (a.scratch, b.scratch)]
    if any(len(x) != len(y) for x, y in groups):
        return False
    pairs = [pair for x, y in groups for pair in zip(x, y, strict=True)]
    return all(_same_tensor(*pair, known) for pair in pairs) and all(
        extent_forms.corresponds(*pair) for pair in zip(a.params, b.params, strict=True)
    )


def _same_tensor(a, b, known):
    if known.setdefault(a, b) is not b or (a.dtype, len(a.shape)) != (b.dtype, len(b.shape)):
        return False
    if not all(map(extent_forms.corresponds, a.shape, b.shape)):
        return False
    if (a.data is None) != (b.data is None) or (a.alias is None) != (b.alias is None):
        return False
    if a.data is not None and not np.array_equal(_bytes(a), _bytes(b)):
        return False
    return a.alias is None or _same_tensor(a.alias, b.alias, known)


def _bytes(t):
    return np.ascontiguousarray(t.data).reshape(-1).view(np.uint8)
