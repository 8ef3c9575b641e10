"""The cases of com.microsoft pass as before, and enough of them.

Some of each operator's; MPCONNXR_LONG=1: all of them, and docs/operators.md says which pass.
`python -m tools.conformance --collection ms --write-docs` rewrites its section and the failures.
"""

import os

import numpy as np
import onnx
import pytest

from tests.host.test_conformance import failures, listed, needs_doubles
from tools.conformance import ms, report
from tools.conformance.__main__ import main
from tools.conformance.cases import MS, Case, ms_cases
from tools.conformance.ms import making
from tools.conformance.prepare import Prepared, prepare_all
from tools.conformance.suite import Row, judge, run_cases
from tools.harness import Outcome, Run

pytest.importorskip("onnxruntime")

LONG = os.environ.get("MPCONNXR_LONG") == "1"
SOME = 4
LEAST = 20  # cases of an operator
SHARE = 0.97  # of them pass


@pytest.mark.slow
def test_no_passing_case_fails(ready_target):
    cases = ms_cases(None if LONG else SOME)
    rows = run_cases(cases, prepare_all(cases), ready_target("unix32"))
    lost = [row for row in rows if row.id not in failures() and not row.passed]
    assert all(needs_doubles(row) for row in lost), listed(lost)


@pytest.mark.skipif(not LONG, reason="MPCONNXR_LONG=1 runs all cases")
def test_the_page_and_the_failures_are_up_to_date(ready_target):
    cases = ms_cases()
    rows = run_cases(cases, prepare_all(cases), ready_target("unix"))
    remedy = "run python -m tools.conformance --collection ms --write-docs"
    passed = {row.id for row in rows if row.passed}
    assert passed == {row.id for row in rows} - failures(), remedy
    assert len(passed) >= SHARE * len(rows)
    section = report.sections_of(report.DOCS.read_text())[MS]
    assert section.strip() == report.docs_text(rows).strip(), remedy


@pytest.mark.slow
@pytest.mark.parametrize("operator", ms.operators())
def test_an_operator_has_cases(operator):
    made = list(ms.models(operator))
    assert len(made) >= LEAST
    again = [m.inputs for m in ms.models(operator)]
    for one, other in zip(made, again, strict=True):
        assert all(contents(a) == contents(b) for a, b in zip(one.inputs, other, strict=True))


def contents(x):
    """Return all of an array: the bits of its numbers, or its strings."""
    return x.tolist() if x.dtype == object else x.tobytes()


def test_the_page_counts_what_onnxruntime_has():
    from onnxruntime.capi.onnxruntime_pybind11_state import get_all_opkernel_def

    kernels = get_all_opkernel_def()
    names = {k.op_name for k in kernels if k.domain == making.DOMAIN and "CPU" in k.provider}
    assert len(names) == report.MS_DUE
    assert set(ms.operators()) <= names


def judged(got, expected, is_rounded):
    """Return the verdict on integers that come from a device."""
    got, expected = np.array(got, np.uint8), np.array(expected, np.uint8)
    case = Case("ms", "A_00", "A", b"", [], [expected], 0, 0, is_rounded)
    run = Run([got.tobytes()], None, [got.shape])
    outputs = [(onnx.TensorProto.UINT8, got.dtype)]
    return judge(case, Prepared(outputs=outputs), Outcome([run]))[0]


def test_few_integers_may_be_a_step_off():
    due = [7] * 100
    assert judged([8] + due[1:], due, True) == "passed"
    assert judged([8] + due[1:], due, False) == "failed"
    assert judged([9] + due[1:], due, True) == "failed"
    assert judged([8] * 4 + due[4:], due, True) == "failed"


@pytest.mark.parametrize("operator", ["Gelu", "QLinearAdd"])
def test_a_case_that_onnxruntime_refuses_is_omitted(operator):
    assert making.run(operator, 0, making.Spec([np.zeros(3, np.int16)])) is None


def test_the_page_has_their_section():
    rows = [
        Row("node", "test_a", "A", ("float32",), "passed"),
        Row("ms", "B_00", "com.microsoft::B", ("int8",), "passed"),
        Row("ms", "B_01", "com.microsoft::B", (), "unsupported", "no kernel"),
    ]
    text = report.docs_text(rows)
    sections = report.sections_of(text)
    assert sections["onnx"] + sections[MS] == text
    assert "| A | float32 | 1/1 |" in sections["onnx"]
    assert "| B | int8 | 1/2 |  | 1 × no kernel |" in sections[MS]
    assert "2 random cases" in " ".join(sections[MS].split())


def test_the_command_line_lists_and_runs_cases(ready_target, capsys):
    ready_target("unix")
    chosen = ["--collection", "ms", "--filter", "ms Gelu_0[01]"]
    assert main([*chosen, "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert listed == [f"ms Gelu_0{i} com.microsoft::Gelu" for i in (0, 1)]
    assert main(chosen) == 0
    assert "| ms | 2 | 2 | 0 | 0 | 0 | 0 |" in capsys.readouterr().out
