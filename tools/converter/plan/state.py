"""--state OUTPUT=INPUT: what a run leaves in an output is what the next run finds in an input.

1. The two disappear from the model's interface; the input becomes memory that lasts.
2. The output lies in the input's memory where no step that still reads that comes after the first
   one that writes it, but for those that declare it safe (Step.in_place, over).
3. Elsewhere a last step moves it there.
4. A step that copies the input, whole and in order, to where it lies goes.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import UsageError
from ..ir import Graph, Step, Tensor, walk
from ..ops._move import emit_copy


def carry(graph: Graph, states: Mapping[str, str]) -> None:
    """Changes a lowered graph in place. states: output by input.

    Raises UsageError for a name that does not exist, or a pair that does not fit.
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
    """Puts the output into the input's memory; False where that would lose something."""
    root = y.root
    if root.data is not None or root.nbytes != x.nbytes or root in graph.inputs or root.persistent:
        return False
    if not _is_read_before(graph, x, root):
        return False
    root.alias = x
    return True


def _is_idle(step: Step) -> bool:
    """True for a copy of items, one after another, to the place where they are."""
    if step.kernel != "move" or step.inputs[0].root is not step.outputs[0].root:
        return False
    is_whole = step["dims"] == [step.inputs[0].nbytes // step["unit"]]
    is_plain = step["x_strides"] == step["out_strides"] == [1]
    starts = step.inputs[0].start, step.outputs[0].start, step["x_first"], step["out_first"]
    return is_whole and is_plain and not any(starts)


def _is_read_before(graph, x, y):
    """True if x can hold y from the first step that writes it. Bodies count as their steps do."""
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
    # all that the step reads of the one and writes of the other, and each in its own place
    is_all = bool(pairs) and len(reads) == len(writes) == len(pairs)
    return is_all and all(a.start == b.start for a, b in pairs)
