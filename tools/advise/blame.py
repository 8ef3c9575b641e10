"""Describe what takes most of the heap that a model needs."""

from __future__ import annotations

from tools.converter.converted import Converted
from tools.converter.ir import walk
from tools.deploy.fit import Needs

_MOST_SHOWN = 48  # characters of a name


def largest(converted: Converted, needs: Needs) -> str:
    """Return a text like 'the activation y of node conv1, 200,704 bytes, alive in step 3'."""
    parts = {"tensors": needs.tensors, "window": needs.window + needs.held}
    part = max(parts, key=parts.__getitem__)
    if parts[part] < needs.code + needs.steps:
        return f"the code, {needs.code + needs.steps:,} bytes with what loading takes"
    return _weights(converted) if part == "window" else _tensor(converted)


def _tensor(converted):
    """Describe the largest block that is alive when most of the arena is in use."""
    steps, plan = list(walk(converted.graph.steps)), converted.plan
    if not steps or not plan.blocks:
        return "state that is kept from run to run"
    peak = max(range(len(steps)), key=plan.bytes_alive)
    alive = [b for b in plan.blocks if b.first <= peak <= b.last]
    block = max(alive, key=lambda b: b.nbytes)
    when = f"in step {block.first}"
    if block.last > block.first:
        when = f"in steps {block.first} to {block.last}"
    name = _short(block.tensor.name)
    size = f"{block.nbytes:,} bytes, alive {when}"
    for step in steps:
        if any(t.root is block.tensor for t in step.scratch):
            return f"scratch of node {_short(step.node)} ({step.kernel}), {size}"
        if any(t.root is block.tensor for t in step.outputs):
            return f"the activation {name} of node {_short(step.node)}, {size}"
    return f"the input {name}, {size}"


def _short(name):
    """Return the end of a long name, which identifies it better than its start."""
    return name if len(name) <= _MOST_SHOWN else f"…{name[-_MOST_SHOWN:]}"


def _weights(converted):
    """Describe the step with the largest weights, which are in memory while it runs."""

    def nbytes(step):
        return sum(
            t.stored_nbytes for t in {t.root for t in step.inputs if t.root.data is not None}
        )

    steps = list(walk(converted.graph.steps))
    number = max(range(len(steps)), key=lambda i: nbytes(steps[i]))
    step = steps[number]
    return (
        f"the weights of node {_short(step.node)}, {nbytes(step):,} bytes, read for step {number}"
    )
