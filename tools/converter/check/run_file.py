"""Run a file on this computer: in MicroPython if its unix port is built, else in CPython."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tools import limits
from tools.harness import Job, input_bytes, output_value, run_jobs
from tools.micropython import get_target

from .. import own
from ..converted import Converted
from ..ir import Graph, walk
from ..options import Options

MOST_WORK = {"unix": 3_000_000_000, "cpython": 30_000_000}  # ten seconds; see work_of
_MACS_OF_AN_ELEMENT = 10  # MACs that an element of a step's output counts as
_SECONDS = 60
_MOST_NBYTES = 512 << 20  # of the arena and the file


class NotRun(Exception):
    """The file cannot be run here; the message says why."""


class Failed(Exception):
    """The run failed, although the file should run; the message says how."""


@dataclass(frozen=True)
class Outputs:
    """The outputs of all runs.

    Attributes:
        runs: the outputs of each run, arrays or lists of maps.
        target: name of the target that ran the file.
    """

    runs: list[list]
    target: str


def run(converted: Converted, options: Options, n: int = 1) -> Outputs:
    """Run a file n times with the inputs of its golden vector.

    Raises:
        NotRun: if it cannot be run here.
        Failed: if it fails.
    """
    graph, vector = converted.graph, converted.vector
    target = _target(graph)
    nbytes = converted.plan.arena_bytes + len(converted.data)
    if nbytes > _MOST_NBYTES:
        raise NotRun(f"arena and file take {nbytes / 1e6:,.0f} MB of memory. {_OTHERWISE}")
    raw = [input_bytes(x) for x in vector.inputs]
    shapes = [[list(np.shape(x)) for x in vector.inputs]] * n
    is_open = any(t.is_open for t in graph.inputs)
    job = Job(converted.data, [raw] * n, shapes=shapes if is_open else ())
    kernels = own.kernels_in(options.ops)
    with limits.lifted():
        [outcome] = run_jobs(target, [job], timeout=_SECONDS, workers=1, kernels=kernels)
    if outcome.error:
        _refuse(outcome, graph, kernels)
    return Outputs([_values(graph, run) for run in outcome.runs], target.name)


def _values(graph, run):
    outputs = zip(graph.outputs, run.outputs, run.shapes, strict=True)
    return [output_value(bytes(data), t.dtype, t.np_dtype, shape) for t, data, shape in outputs]


def work_of(graph: Graph) -> int:
    """Return roughly how many MACs a run computes."""
    elements = sum(t.nelem for step in walk(graph.steps) for t in step.outputs)
    return sum(step.total_macs for step in graph.steps) + _MACS_OF_AN_ELEMENT * int(elements)


def _target(graph):
    """Return the fastest available target, without building one."""
    unix = get_target("unix")
    target = unix if unix.path().is_file() else get_target("cpython")
    if work_of(graph) > MOST_WORK[target.name]:
        macs = sum(step.total_macs for step in graph.steps)
        raise NotRun(f"{macs / 1e6:,.0f} M MACs take long in {_NAMES[target.name]}. {_OTHERWISE}")
    return target


_NAMES = {"unix": "MicroPython here", "cpython": "CPython"}
_OTHERWISE = (
    "mpconnxr run FILE.bin --random 1 --compare MODEL.onnx runs it, and flash verifies it on the "
    "board"
)


def _refuse(outcome, graph, kernels):
    """Raise NotRun if a failure is no fault of the file, else Failed."""
    text = f"{outcome.error}: {outcome.message}" if outcome.message else outcome.error
    used = {step.kernel for step in walk(graph.steps)} & {Path(name).stem for name in kernels}
    if used:
        names = ", ".join(sorted(used))
        raise NotRun(f"kernel {names} of --ops does not run on this computer: {text}")
    if outcome.error == "timeout":
        raise NotRun(f"the run took more than {_SECONDS} s. {_OTHERWISE}")
    if outcome.error in ("MemoryError", "UnsupportedError"):
        raise NotRun(text)
    raise Failed(text)
