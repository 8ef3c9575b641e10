"""Estimate the instructions of steps from costs that `python -m benchmarks.steps` measured.

The file costs.json has them by kind of step: a kernel and the dtype of its first input, such as
'conv float32'.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from ..ir import Step, dtype_name
from ..shapes import extent

COSTS = Path(__file__).parent / "costs.json"
# The error range of a kind measured on fewer than _FEW steps is _WIDER times as wide.
_FEW, _WIDER = 4, 1.5
# Target whose counts are used for kinds that were not counted on a target.
_LIKE = {"sim-de212": "virt-rv32"}
_UNKNOWN = 4.0  # error range of a kind that was not measured


class Work(NamedTuple):
    """The work of a step.

    Attributes:
        macs: nominal multiply-accumulates.
        inputs: elements of inputs that are not constants.
        outputs: elements of outputs.
        constants: elements of constants.
    """

    macs: int
    inputs: int
    outputs: int
    constants: int


def work_of(step: Step) -> Work:
    """Return the work of a step without its bodies; Extents count as their bounds."""
    inputs = [t for t in step.inputs if t.root.data is None]
    constants = [t for t in step.inputs if t.root.data is not None]
    return Work(step.macs, _elements(inputs), _elements(step.outputs), _elements(constants))


def _elements(tensors):
    return sum(int(extent.bound_of(t.nelem)) for t in tensors if not t.is_open_object)


class Range(NamedTuple):
    """An estimate: smallest, likely and largest value."""

    least: float
    likely: float
    most: float

    def __add__(self, other: Range) -> Range:
        return Range(*(a + b for a, b in zip(self, other, strict=True)))

    def times(self, least: float, most: float) -> Range:
        """Return the range times a factor between two numbers."""
        return Range(self.least * least, self.likely * (least * most) ** 0.5, self.most * most)


@cache
def _costs():
    return json.loads(COSTS.read_text())


def kind_of(step: Step) -> str:
    """Return the kind of a step by which its cost is known: kernel and dtype."""
    inputs = [t for t in step.inputs if t.root.data is None] or step.outputs
    return f"{step.kernel} {dtype_name(inputs[0].dtype)}" if inputs else step.kernel


def is_measured(step: Step, target: str) -> bool:
    """Return True if this kind of step was counted on the target."""
    return kind_of(step) in _kinds(target)


@cache
def _kinds(target):
    return _costs().get(_LIKE.get(target), {}) | _costs().get(target, {})


def model_instructions(steps: list[Step], target: str) -> Range:
    """Return the instructions of a run of these steps.

    The most expensive body of a step counts, as often as it may run.
    """
    total = Range(0, 0, 0)
    for step in steps:
        total += instructions(step, target)
        bodies = [model_instructions(body, target) for body in step.bodies]
        if bodies:
            total += max(bodies, key=lambda r: r.likely).times(step.trips, step.trips)
    return total


def instructions(step: Step, target: str) -> Range:
    """Return the instructions of a step without its bodies, on a target of tools.micropython."""
    work, kinds = work_of(step), _kinds(target)
    if kind_of(step) not in kinds:
        likely = _likely_by_medians(work, target)
        return Range(likely / _UNKNOWN, likely, likely * _UNKNOWN)
    cost = kinds[kind_of(step)]
    likely = sum(a * b for a, b in zip(cost["terms"], (1, *work), strict=True))
    least, most = cost["off"]
    wider = _WIDER if cost["n"] < _FEW else 1.1
    return Range(likely * least / wider, likely, likely * most * wider)


def _likely_by_medians(work, target):
    """Return the likely instructions of an unmeasured kind, from the medians of all kinds."""
    call, mac, element = _medians(target)
    return call + (work.macs * mac if work.macs else (work.inputs + work.outputs) * element)


@cache
def _medians(target):
    """Return medians over kinds: instructions of a call, a multiply-accumulate and an element."""
    terms = [cost["terms"] for cost in _kinds(target).values()]
    columns = [
        [t[0] for t in terms if t[0]],
        [t[1] for t in terms if t[1]],
        [t[2] + t[3] for t in terms if t[2] + t[3] and not t[1]],
    ]
    return [sorted(column)[len(column) // 2] if column else 0 for column in columns]
