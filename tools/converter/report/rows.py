"""Describe each step with its costs as a row of a table."""

from __future__ import annotations

from dataclasses import dataclass

from ..converted import Converted
from ..ir import Step, Tensor, dtype_name, walk


@dataclass(frozen=True)
class StepRow:
    """One step of a model.

    Attributes:
        index: number of the step in the order of the file.
        kernel: its kernel.
        node: the ONNX node.
        inputs: dtypes and shapes of its inputs that are not constants.
        output: dtypes and shapes of its outputs.
        macs: nominal multiply-accumulates.
        share: share of the model's MACs.
        weight_bytes: bytes of the constants that it reads.
        scratch_bytes: bytes of its scratch.
        live_bytes: bytes of the arena in use while it runs, scratch included.
        is_peak: no step has more live bytes.
    """

    index: int
    kernel: str
    node: str
    inputs: str
    output: str
    macs: int
    share: float
    weight_bytes: int
    scratch_bytes: int
    live_bytes: int
    is_peak: bool


def step_rows(converted: Converted) -> list[StepRow]:
    """Return a row for each step, bodies included, in the order of the file."""
    steps = list(walk(converted.graph.steps))
    live = [converted.plan.bytes_alive(i) for i in range(len(steps))]
    total = sum(step.macs for step in steps) or 1
    peak = max(live, default=0)
    return [
        _row(i, step, step.macs / total, live[i], live[i] == peak) for i, step in enumerate(steps)
    ]


def _row(index: int, step: Step, share: float, live_bytes: int, is_peak: bool) -> StepRow:
    constants = {t.root for t in step.inputs if t.root.data is not None}
    return StepRow(
        index=index,
        kernel=step.kernel,
        node=step.node,
        inputs=", ".join(type_text(t) for t in step.inputs if t.root.data is None),
        output=", ".join(type_text(t) for t in step.outputs),
        macs=step.macs,
        share=share,
        weight_bytes=sum(t.stored_nbytes for t in constants),
        scratch_bytes=sum(t.nbytes for t in step.scratch),
        live_bytes=live_bytes,
        is_peak=is_peak,
    )


def type_text(t: Tensor) -> str:
    """Return the dtype and shape of a tensor, such as 'float32 1×8×28×28'."""
    return f"{dtype_name(t.dtype)} {'×'.join(map(str, t.shape)) or 'scalar'}"
