"""ONNX's backend tests pass as before, and docs/operators.md says which do.

`python -m tools.conformance --write-docs` rewrites the page and the list of failures.
"""

import json
import multiprocessing
import os

import numpy as np
import pytest

from tests.host.device import small
from tools.conformance import report
from tools.conformance.__main__ import main
from tools.conformance.cases import Case, all_cases, ms_cases
from tools.conformance.prepare import prepare, prepare_all
from tools.conformance.suite import Row, difference, run_cases
from tools.converter.convert import convert
from tools.program.bounds import proof
from tools.program.call import CannotRecord
from tools.program.record import record

# The node cases that pass are never fewer.
LEAST = 1869
MANY_MACS = 100_000_000
MANY_CALLS = 30_000


@pytest.mark.slow
def test_no_passing_case_fails(ready_target):
    cases = all_cases()
    prepared = prepare_all(cases)
    check_bounds(cases, prepared)
    rows = run_cases(cases, prepared, ready_target("unix"))
    lost = [row for row in rows if row.id not in failures() and not row.passed]
    assert not lost, listed(lost)
    assert sum(row.passed for row in rows if row.collection == "node") >= LEAST
    passed = {row.id for row in rows if row.passed}
    check_single_floats(ready_target("unix32"), cases, prepared, passed)
    remedy = "run python -m tools.conformance --write-docs"
    due = {row.id for row in rows} - failures()
    assert passed == due, f"{report.FAILURES} is out of date: {remedy}"
    section = report.sections_of(report.DOCS.read_text())["onnx"]
    assert section.strip() == report.docs_text(rows).strip(), f"{report.DOCS}: {remedy}"


def check_bounds(cases, prepared):
    """Check that no call of a case that can be a program leaves its buffers."""
    n_proved = 0
    for case, p in zip(cases, prepared, strict=True):
        if not p.verdict and p.macs < MANY_MACS:
            try:
                result = proof(record(p.model, lambda _, form: form == "plain"))
            except CannotRecord:
                continue
            assert not result.strays, (case.id, str(result.strays[0]))
            n_proved += result.proved
    assert n_proved > MANY_CALLS


def listed(rows):
    return "\n".join(f"{row.id}: {row.status}: {row.reason}" for row in rows)


def failures():
    """Return the cases that are known not to pass."""
    return set(report.FAILURES.read_text().splitlines())


def check_single_floats(target, cases, prepared, passed):
    """Check that the same cases pass on 32-bit words, except those that need float64.

    The networks of `light` are omitted: they are billions of the same products.
    """
    pairs = [(c, p) for c, p in zip(cases, prepared, strict=True) if c.id in passed]
    pairs = [(c, p) for c, p in pairs if p.macs < MANY_MACS]
    rows = run_cases(*zip(*pairs, strict=True), target)
    wrong = [row for row in rows if not row.passed and not needs_doubles(row)]
    assert not wrong, listed(wrong)


def needs_doubles(row):
    return row.status == "unsupported" and "needs float64" in row.reason


def test_differences_of_floats_and_integers_are_judged():
    def of(got, expected, dtype="float32"):
        return difference(np.array(got, dtype), np.array(expected, dtype), 1e-3, 1e-7)

    assert of([1.0, np.nan, np.inf, -0.0], [1.0005, np.nan, np.inf, 0.0]) == ""
    assert of([1.0, 2.0], [1.0, 2.1]) == "wrong values: 1 of 2, up to 0.1 off"
    assert of([np.inf], [-np.inf])
    assert of([np.nan], [1.0])
    assert of([100000], [100001], "int64") == "wrong values: 1 of 1"
    assert of([True], [False], "bool")
    assert of([1.0], [[1.0]]) == "float32 [1], expected float32 [1, 1]"
    assert difference(np.zeros(1, np.int8), np.zeros(1, np.uint8), 1, 1)


def case_of(op_type, inputs, **attributes):
    names = [f"x{i}" for i in range(len(inputs))]
    infos = [small.value(n, x.shape, x.dtype) for n, x in zip(names, inputs, strict=True)]
    nodes = [(op_type, " ".join(names), "y", attributes)]
    model = small.model(nodes, infos, [small.value("y", ["a", "b"])])
    return Case("node", op_type, op_type, model.SerializeToString(), inputs, [])


def test_a_conversion_gives_a_model_or_a_verdict(monkeypatch):
    x = np.zeros((2, 3), np.float32)
    assert prepare(case_of("Relu", [x])).verdict == ""
    bound = prepare(case_of("Reshape", [x, np.array([3, 2])]))
    assert (bound.verdict, bound.bound, len(bound.sample)) == ("", True, 1)
    assert prepare(case_of("Det", [x])).verdict == "unsupported"

    def crash(*_):
        raise KeyError("a fault")

    monkeypatch.setattr("tools.conformance.prepare.convert", crash)
    crashed = prepare(case_of("Relu", [x]))
    assert crashed.verdict == "failed"
    assert crashed.reason == "converter crashed: KeyError: 'a fault'"


def test_a_conversion_has_a_time_limit(monkeypatch):
    def forever(*_):
        while True:
            pass

    monkeypatch.setattr("tools.conformance.prepare.convert", forever)
    monkeypatch.setattr("tools.conformance.prepare.TIME_LIMIT", 1)
    prepared = prepare(case_of("Relu", [np.zeros(1, np.float32)]))
    assert (prepared.verdict, prepared.reason) == ("failed", "conversion takes more than 1 s")


@pytest.mark.slow
def test_the_command_line_lists_and_runs_cases(ready_target, tmp_path, capsys):
    ready_target("unix")
    chosen = ["--filter", " test_(relu|gradient_of_add)$"]
    assert main([*chosen, "--list"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "node test_relu Relu",
        "simple test_gradient_of_add ",
    ]
    assert main(chosen) == 0
    shown = capsys.readouterr().out
    assert "| node | 1 | 1 | 0 | 0 | 0 | 0 |" in shown
    assert "| simple | 1 | 0 | 0 | 0 | 0 | 1 |" in shown
    assert main([*chosen, "--json"]) == 0
    lines = capsys.readouterr().out.splitlines()
    relu, gradient = (json.loads(line) for line in lines)
    assert (relu["collection"], relu["name"], relu["status"]) == ("node", "test_relu", "passed")
    assert "has no kernel" in gradient["reason"]
    for more in ([], ["--list"]):
        assert main(["--filter", "zzzz", *more]) == 2
        streams = capsys.readouterr()
        assert streams.err == "conformance: no case matches --filter zzzz\n" and not streams.out
    for wrong in (["--filter", "("], ["--target", "pdp11"], [*chosen, "--write-docs"]):
        with pytest.raises(SystemExit) as stop:
            main(wrong)
        assert stop.value.code == 2


@pytest.mark.skipif(
    multiprocessing.get_start_method() != "fork", reason="a worker must inherit what is patched"
)
def test_a_dying_worker_costs_only_its_case(monkeypatch):
    def die_for_three(model, options):
        if options.shapes["x0"] == (3, 3):
            os._exit(1)
        return convert(model, options)

    monkeypatch.setattr("tools.conformance.prepare.convert", die_for_three)
    cases = [case_of("Relu", [np.zeros((n, 3), np.float32)]) for n in range(1, 6)]
    counted = []
    prepared = prepare_all(cases, on_case=lambda: counted.append(1))
    assert [p.verdict for p in prepared] == ["", "", "failed", "", ""]
    assert prepared[2].reason == "converter crashed: its process died"
    assert len(counted) == 5


def test_the_page_is_the_same_for_the_same_rows():
    rows = [
        Row("node", "test_a", "A", ("float32",), "passed"),
        Row("node", "test_a_more", "A", ("int8",), "passed-bound"),
        Row("node", "test_a_expanded", "A", ("float32",), "failed", "wrong values: 1 of 2"),
        Row("node", "test_a_odd", "A", ("string",), "unsupported", "input of strings"),
        Row("node", "test_b", "B", (), "folded", "nothing is left"),
        Row("node", "test_c", "C", (), "passed", optimize=0, empty=True),
        Row("node", "test_c_more", "C", (), "passed-bound", optimize=0),
        Row("light", "test_net", "", (), "unsupported", "LRN (opset 9): a|b; Add: c"),
    ]
    text = report.docs_text(rows)
    assert "| A | float32 int8 | 2/3 | 1 |  | 0/1 | 1 × input of strings |" in text
    assert "| B |  | 0/1 |  |  |  | 1 × folded |" in text
    assert "| C |  | 2/2 | 1 | 2 |  |  |" in text
    assert "take them so: 2\n  cases, 1 of them with empty outputs" in text
    assert "| light | test_net | unsupported | LRN: a\\|b |" in text
    failed = ["light test_net", "node test_a_expanded", "node test_a_odd", "node test_b"]
    assert report.failures_text(rows) == "".join(f"{name}\n" for name in failed)


def test_each_known_failure_is_a_case():
    assert failures() <= {case.id for case in [*all_cases(), *ms_cases()]}
