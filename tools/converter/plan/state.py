"""Carry states from run to run (--state OUTPUT=INPUT): an output becomes the next run's input.

1. Both disappear from the model's inputs and outputs; the input becomes persistent memory.
2. The output lies in the input's memory if no step reads the input after the first one that writes
   the output, except steps that declare it safe (Step.in_place, over).
3. Otherwise a last step copies it there.
4. A step that copies the whole input to where it is anyway is removed.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import UsageError
from ..ir import Graph, Step, Tensor, walk
from ..ops._move import emit_copy


def carry(graph: Graph, states: Mapping[str, str]) -> None:
    """Turn outputs into states, in place: see the module.

    Args:
        graph: the lowered graph.
        states: outputs by the input that they become.

    Raises:
        UsageError: if a name does not exist or a pair does not fit.
    """
    inputs = {t.name: t for t in graph.inputs}
    outputs = {t.name: t for t in graph.outputs}
    pairs = []
    for name, output in states.items():
        _check_name("input", name, inputs)
        _check_name("output", output, outputs)
        pairs.append((inputs[name], outputs[output]))
        _check_pair(*pairs[-1])
    graph.inputs = [t for t in graph.inputs if t.name not in states]
    graph.outputs = [t for t in graph.outputs if t.name not in states.values()]
    copied = [pair for pair in pairs if not _join(graph, *pair)]
    graph.steps = [step for step in graph.steps if not _is_idle(step)]
    for x, y in copied:
        emit_copy(lambda **step: graph.steps.append(Step.of(**step, node="state")), y, x)
    for x, _ in pairs:
        x.persistent = True
        graph.states.append(x)


def _check_name(kind, name, known):
    if name not in known:
        raise UsageError(f"--state: no {kind} {name}; there are {', '.join(known)}")


def _check_pair(x: Tensor, y: Tensor) -> None:
    if x.is_object or x.is_open or y.is_open:
        raise UsageError(f"--state {y.name}={x.name}: numbers of a fixed shape are needed")
    if (x.dtype, x.shape) != (y.dtype, y.shape):
        raise UsageError(f"--state {y.name}={x.name}: {y} cannot become {x}")


def _join(graph: Graph, x: Tensor, y: Tensor) -> bool:
    """Move the output into the input's memory; return False if that would lose a value."""
    root = y.root
    if root.data is not None or root.nbytes != x.nbytes or root in graph.inputs or root.persistent:
        return False
    if not _is_read_before(graph, x, root):
        return False
    root.alias = x
    return True


def _is_idle(step: Step) -> bool:
    """Return True for a copy of elements to the place where they already are."""
    if step.kernel != "move" or step.inputs[0].root is not step.outputs[0].root:
        return False
    is_whole = step["dims"] == [step.inputs[0].nbytes // step["unit"]]
    is_plain = step["x_strides"] == step["out_strides"] == [1]
    starts = step.inputs[0].start, step.outputs[0].start, step["x_first"], step["out_first"]
    return is_whole and is_plain and not any(starts)


def _is_read_before(graph, x, y):
    """Return True if x can hold y from the first step on that writes y; bodies count as steps."""
    written = False
    for step in graph.steps:
        inner = list(walk([step]))
        reads = any(t.root is x for s in inner for t in s.inputs)
        written = written or any(t.root is y for s in inner for t in s.outputs)
        if reads and written and not _is_safe(step, x, y):
            return False
    return written


def _is_safe(step, x, y):
    if step.outputs and step.outputs[0].root is y and step.lead(x) == 0:
        return True
    pairs = [(a, b) for a, b in step.in_place if (a.root, b.root) == (x, y)]
    reads = [t for t in step.inputs if t.root is x]
    writes = [t for t in step.outputs if t.root is y]
    # the pairs cover all that the step reads of x and writes of y, at the same offsets
    is_all = bool(pairs) and len(reads) == len(writes) == len(pairs)
    return is_all and all(a.start == b.start for a, b in pairs)
