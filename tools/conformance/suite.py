"""Runs cases on a target and judges what comes back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from tools.harness import Job, output_value, run_jobs
from tools.micropython import Target

from .cases import Case, elements
from .prepare import DEFAULT_LEVEL, Prepared

STATUSES = ("passed", "passed-bound", "folded", "failed", "unsupported", "disputed")
PASSED = STATUSES[:2]

TIME_LIMIT = 600  # seconds for one case on the target, which may have to share its processor
_ROUNDED = 0.02  # of the integers that come from floats: so many may lie a step off
_MANY_MACS = 1_000_000  # that plain loops take a second for


@dataclass(frozen=True)
class Row:
    """A case's result.

    reason: "" where it passed; seconds: of the run, None if there is none; optimize: the level of
    the conversion; empty: no output has an item.
    """

    collection: str
    name: str
    operator: str
    dtypes: tuple[str, ...]
    status: str
    reason: str = ""
    seconds: float | None = None
    optimize: int = DEFAULT_LEVEL
    empty: bool = False

    @property
    def passed(self) -> bool:
        """Whether the case counts as passed."""
        return self.status in PASSED

    @property
    def id(self) -> str:
        """Collection and name."""
        return f"{self.collection} {self.name}"

    def as_dict(self) -> dict:
        """Return the fields, for JSON."""
        return asdict(self)


def run_cases(
    cases: Sequence[Case],
    prepared: Sequence[Prepared],
    target: Target,
    workers: int = 2,
    on_case: Callable[[], None] = lambda: None,
) -> list[Row]:
    """A row for each case, in order. Raises TargetError where the target does not work."""
    to_run = [p for p in prepared if not p.verdict]
    for _ in range(len(cases) - len(to_run)):
        on_case()
    jobs = [Job(p.model, [p.sample], alone=p.macs > _MANY_MACS) for p in to_run]
    outcomes = iter(run_jobs(target, jobs, TIME_LIMIT, workers, on_job=on_case))
    return [
        _row(case, p, None if p.verdict else next(outcomes))
        for case, p in zip(cases, prepared, strict=True)
    ]


def _row(case, prepared, outcome):
    status, reason, seconds = prepared.verdict, prepared.reason, None
    if outcome:
        status, reason = judge(case, prepared, outcome)
        seconds = outcome.runs[0].seconds if outcome.runs else None
    if case.disputed and status == "failed":
        status, reason = "disputed", case.disputed
    dtypes = tuple(sorted({x.dtype.name for x in elements(case.inputs)}))
    what = (case.collection, case.name, case.operator, dtypes)
    empty = not any(x.size for x in elements(case.outputs))
    return Row(*what, status, reason, seconds, prepared.optimize, empty)


def judge(case: Case, prepared: Prepared, outcome) -> tuple[str, str]:
    """(status, reason) of a case that the device has run."""
    if outcome.error:
        status = "unsupported" if outcome.error == "UnsupportedError" else "failed"
        return status, f"{outcome.error}: {outcome.message}"
    run = outcome.runs[0]
    due = elements(case.outputs)
    if len(due) != len(run.outputs):
        return "failed", f"{len(run.outputs)} outputs where {len(due)} are due"
    for raw, shape, spec, expected in zip(
        run.outputs, run.shapes, prepared.outputs, due, strict=True
    ):
        got = output_value(raw, *spec, tuple(shape))
        if got.dtype.kind == "O":
            expected = expected.astype(object)  # numpy has several dtypes for strings
        if case.is_rounded and got.dtype.kind in "iu" and got.shape == expected.shape:
            expected = _taken_as_due(got, expected)
        reason = difference(got, expected, case.rtol, case.atol)
        if reason:
            return "failed", reason
    return "passed-bound" if prepared.bound else "passed", ""


def _taken_as_due(got, expected):
    """What is got, if few integers lie a step off, for one in the middle may go either way."""
    off = np.abs(got.astype(np.int64) - expected.astype(np.int64))
    is_right = got.dtype == expected.dtype and off.max(initial=0) <= 1
    return got if is_right and off.sum() <= off.size * _ROUNDED + 1 else expected


def difference(got: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> str:
    """How an output differs; "" if it is right: integers equal, floats within the tolerance."""
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return (
            f"{got.dtype} {list(got.shape)} where {expected.dtype} {list(expected.shape)} is due"
        )
    if got.dtype.kind in "biuO":
        wrong = got != expected
        return f"wrong values: {np.count_nonzero(wrong)} of {wrong.size}" if wrong.any() else ""
    if got.dtype.name == "bfloat16":
        rtol = max(rtol, 2**-6)  # as onnx compares them: two units in the last place
    a, b = got.astype(np.float64), expected.astype(np.float64)
    wrong = ~np.isclose(a, b, rtol, atol, equal_nan=True)
    if not wrong.any():
        return ""
    with np.errstate(invalid="ignore"):
        worst = np.max(np.abs(a - b)[wrong])
    return f"wrong values: {np.count_nonzero(wrong)} of {wrong.size}, up to {worst:.3g} off"
