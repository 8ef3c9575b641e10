"""Run cases on a target and judge their outputs."""

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

TIME_LIMIT = 600  # seconds for one case on the target
_ROUNDED = 0.02  # share of rounded integers that may be off by one
_MANY_MACS = 1_000_000  # plain loops take about a second; more run alone


@dataclass(frozen=True)
class Row:
    """Result of a case.

    Attributes:
        dtypes: dtypes of the inputs.
        status: one of STATUSES.
        reason: "" if the case passed.
        seconds: time of the run; None if it did not run.
        optimize: level of the conversion.
        empty: all outputs have 0 elements.
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
        """True if the case counts as passed."""
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
    """Run cases and judge them.

    Args:
        cases: the cases.
        prepared: the conversion of each.
        target: the target that runs them.
        workers: number of processes of the target.
        on_case: called after each case.

    Returns:
        A row for each case, in order.

    Raises:
        TargetError: if the target does not work.
    """
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
    case_fields = (case.collection, case.name, case.operator, dtypes)
    empty = not any(x.size for x in elements(case.outputs))
    return Row(*case_fields, status, reason, seconds, prepared.optimize, empty)


def judge(case: Case, prepared: Prepared, outcome) -> tuple[str, str]:
    """Return (status, reason) of a case that the device has run."""
    if outcome.error:
        status = "unsupported" if outcome.error == "UnsupportedError" else "failed"
        return status, f"{outcome.error}: {outcome.message}"
    run = outcome.runs[0]
    all_expected = elements(case.outputs)
    if len(all_expected) != len(run.outputs):
        return "failed", f"{len(run.outputs)} outputs, expected {len(all_expected)}"
    for raw, shape, spec, expected in zip(
        run.outputs, run.shapes, prepared.outputs, all_expected, strict=True
    ):
        got = output_value(raw, *spec, tuple(shape))
        if got.dtype.kind == "O":
            expected = expected.astype(object)  # numpy has several string dtypes
        if case.is_rounded and got.dtype.kind in "iu" and got.shape == expected.shape:
            expected = _rounded_in_either_direction(got, expected)
        reason = difference(got, expected, case.rtol, case.atol)
        if reason:
            return "failed", reason
    return "passed-bound" if prepared.bound else "passed", ""


def _rounded_in_either_direction(got, expected):
    """Return the outputs if few integers are off by one: halves of floats round either way."""
    off = np.abs(got.astype(np.int64) - expected.astype(np.int64))
    is_right = got.dtype == expected.dtype and off.max(initial=0) <= 1
    return got if is_right and off.sum() <= off.size * _ROUNDED + 1 else expected


def difference(got: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> str:
    """Return how an output differs; "" if integers are equal and floats within the tolerance.

    Args:
        got: the target's output.
        expected: the right output.
        rtol: relative tolerance.
        atol: absolute tolerance.
    """
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return f"{got.dtype} {list(got.shape)}, expected {expected.dtype} {list(expected.shape)}"
    if got.dtype.kind in "biuO":
        wrong = got != expected
        return f"wrong values: {np.count_nonzero(wrong)} of {wrong.size}" if wrong.any() else ""
    if got.dtype.name == "bfloat16":
        rtol = max(rtol, 2**-6)  # onnx's tolerance: two units in the last place
    a, b = got.astype(np.float64), expected.astype(np.float64)
    wrong = ~np.isclose(a, b, rtol, atol, equal_nan=True)
    if not wrong.any():
        return ""
    with np.errstate(invalid="ignore"):
        worst = np.max(np.abs(a - b)[wrong])
    return f"wrong values: {np.count_nonzero(wrong)} of {wrong.size}, up to {worst:.3g} off"
