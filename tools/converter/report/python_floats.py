"""Find the steps that a board computes with Python's floats, and their share of a run's work.

The loops that a step calls are recorded from its kernel (tools/program/record) for a board with a
native emitter. A step counts if one of these loops is plain Python and its tensors are floats. If
a model cannot be recorded, for example because a run decides shapes, a step counts if all loops
that its kernel may call are plain. Work is estimated in instructions (see costs).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache, partial

from tools.deploy.modules import built_package
from tools.machine import Machine, is_native
from tools.program.bundle import form_of, has_form
from tools.program.call import INLINE, CannotRecord, Loop
from tools.program.record import record

from ..converted import Converted
from ..ir import walk
from .costs import instructions

TARGET = "mps2-an385-v6m"  # the estimates are of its instructions
MOST = 0.05  # share of the work; a larger one is worth a warning
_MACHINE = Machine.for_arch("armv6m")
_FLOATS = (1, 10, 11, 16)  # float32, float16, float64, bfloat16
_MOST_NAMED = 4  # steps in a line of text


@dataclass(frozen=True)
class FloatStep:
    """A step that computes with Python's floats.

    Attributes:
        step: number of the step.
        kernel: its kernel.
        node: the ONNX node.
        share: share of the run's estimated work.
    """

    step: int
    kernel: str
    node: str
    share: float


@dataclass(frozen=True)
class PythonFloats:
    """All steps of a model that compute with Python's floats, in the order of the file."""

    steps: Sequence[FloatStep] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Return their share of the run's estimated work."""
        return sum(step.share for step in self.steps)

    @property
    def text(self) -> str:
        """Return the share, and the steps with most of it; "" without such steps."""
        if not self.steps:
            return ""
        most = sorted(self.steps, key=lambda step: -step.share)
        named = [f"step {s.step} {s.kernel} ({s.node}) {s.share:.1%}" for s in most[:_MOST_NAMED]]
        if len(most) > _MOST_NAMED:
            named.append(f"and {len(most) - _MOST_NAMED} more")
        return f"{self.share:.1%} of a run's estimated work: {', '.join(named)}"

    @property
    def warning(self) -> str:
        """Return a warning for the user, "" if the share is small."""
        if self.share <= MOST:
            return ""
        return f"Python's floats, which are slow and allocate memory, do {self.text}"

    def report(self) -> dict:
        """Return steps and warnings for JSON."""
        about = {"share": self.share, "steps": [asdict(step) for step in self.steps]}
        return {"python_floats": about, "warnings": [self.warning] if self.warning else []}


def of(converted: Converted) -> PythonFloats:
    """Return the steps of a conversion that compute with Python's floats."""
    steps = list(walk(converted.graph.steps))
    if not any(map(_has_floats, steps)):
        return PythonFloats()
    plain = _plain(converted.data, steps)
    work = dict(_work(converted.graph.steps))
    total = sum(work.values()) or 1.0
    return PythonFloats(
        [
            FloatStep(i, step.kernel, step.node, work[id(step)] / total)
            for i, step in enumerate(steps)
            if i in plain and _has_floats(step)
        ]
    )


def _has_floats(step):
    tensors = [t for t in (*step.inputs, *step.outputs) if not t.is_open_object]
    return any(t.dtype in _FLOATS for t in tensors)


def _work(steps, times=1.0) -> Iterator[tuple[int, float]]:
    """Yield (a step's id, instructions); all bodies count, as often as they may run."""
    for step in steps:
        yield id(step), times * instructions(step, TARGET).likely
        for body in step.bodies:
            yield from _work(body, times * step.trips)


def _plain(data, steps):
    """Return the indexes of steps that run in plain Python."""
    try:
        recording = record(data, partial(has_form, _MACHINE))
    except CannotRecord:
        return {i for i, step in enumerate(steps) if _is_plain_kernel(step.kernel)}
    return {
        step.number
        for step in recording.steps
        if step.number is not None and any(map(_is_plain, _loops(step)))
    }


def _loops(step):
    for call in step.calls:
        if loop := getattr(call, "loop", None):
            yield loop
            yield from _loops_among(call.arguments)


def _loops_among(arguments):
    """Yield the loops among a call's arguments."""
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _loops_among(argument)
        elif isinstance(argument, Loop):
            yield argument


@cache
def _is_plain(loop):
    if loop.is_rare:
        return False
    return loop.family.startswith(INLINE) or _is_plain_family(loop.family)


@cache
def _is_plain_family(family):
    try:
        return not is_native(form_of(family, _MACHINE).read_text())
    except CannotRecord:  # no form for this machine
        return False


@cache
def _is_plain_kernel(kernel):
    package = built_package()
    if not package.has_kernel(kernel):
        return False
    families = package.forms_for(kernel)
    return bool(families) and all(map(_is_plain_family, families))
