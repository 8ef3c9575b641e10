"""Old operator versions: ONNX's own cases of them, and random models at each.

Some of each; MPCONNXR_LONG=1: all, and docs/operators.md says which pass. `python -m
tools.conformance --collection old --collection versions --write-docs` writes it.
"""

import os
import re
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.host.test_conformance import listed, needs_doubles
from tools.conformance import ms, old, report, versions
from tools.conformance.cases import VERSIONS, elements, old_cases, version_cases
from tools.conformance.prepare import prepare_all
from tools.conformance.suite import difference, run_cases
from tools.conformance.versions import making
from tools.converter.load import prepare as loaded
from tools.converter.reference.ort_session import OrtError, open_session
from tools.converter.simplify import simplify

LONG = os.environ.get("MPCONNXR_LONG") == "1"
EACH = 20 if LONG else 1  # random models of a version
STEP = 1 if LONG else 4  # of ONNX's cases

needs_cases = pytest.mark.skipif(
    not old.archive().is_file(), reason=f"no node cases at {old.archive()}"
)
needs_onnxruntime = pytest.mark.skipif(
    not ms.is_possible(), reason="onnxruntime, which says what is due, is not installed"
)

# Cases and models that may be refused, as patterns of "name: reason".
REFUSED = (
    "v1.3.0/test_convtranspose_output_shape: .*output_shape has incorrect si",  # has N and C
    "v1.12.0/test_castlike_BFLOAT16_to_FLOAT: .*dimensions needed",  # its data have another rank
    r"MaxPool-\d+_\d+: .*dtype float64",
    r"ReduceLogSum(Exp)?-\d+_\d+: .*dtype u?int",  # ONNX took them back in opset 28
)


def run(cases, target):
    """Return the cases' rows, and those that failed or were refused without need."""
    rows = run_cases(cases, prepare_all(cases), target)
    bad = [row for row in rows if row.status in ("failed", "folded", "unsupported")]
    return rows, [row for row in bad if not is_refused(row) and not needs_doubles(row)]


def is_refused(row):
    text = f"{row.name}: {row.reason}"
    return row.status == "unsupported" and any(re.match(p, text) for p in REFUSED)


@pytest.mark.slow
@needs_cases
def test_cases_of_replaced_versions_pass(ready_target):
    rows, wrong = run(old_cases()[::STEP], ready_target("unix"))
    assert len(rows) > 1000 / STEP
    assert not wrong, listed(wrong)


@pytest.mark.slow
@needs_cases
def test_disputed_cases_agree_with_onnxruntime(ready_target):
    """These are cases that it runs, with dtypes that its Python has."""
    cases = [c for c in old_cases() if c.disputed and "bernoulli" not in c.name]
    pairs = [(c, computed(c)) for c in cases]
    again = [replace(c, outputs=due, disputed="") for c, due in pairs if due is not None]
    assert len(again) > 20
    _, wrong = run(again, ready_target("unix"))
    assert not wrong, listed(wrong)


def computed(case):
    pytest.importorskip("onnxruntime")
    model = onnx.load_model_from_string(case.model)
    names = [info.name for info in model.graph.input]
    try:
        return open_session(model).run(None, dict(zip(names, case.inputs, strict=True)))
    except OrtError:
        return None


@needs_cases
def test_each_dispute_has_a_case():
    names = [c.name for c in old_cases()]
    for patterns, why in old.DISPUTED.items():
        for pattern in patterns.split():
            assert any(old.fnmatch.fnmatchcase(name, pattern) for name in names), pattern
        assert "ONNX" in why


@pytest.mark.slow
@needs_onnxruntime
def test_random_models_of_each_version_agree(ready_target):
    rows, wrong = run(version_cases(EACH), ready_target("unix"))
    assert len(rows) > 480 * EACH
    assert not wrong, listed(wrong)


@needs_onnxruntime
def test_constants_are_folded_by_the_version(ready_target):
    """onnx's reference evaluator, which folds them, knows only the newest meaning."""
    wrong = []
    for case in version_cases(EACH):
        model = of_constants(case)
        simple = simplify(loaded(model))
        results = {t.name: numpy_helper.to_array(t) for t in simple.graph.initializer}
        for info, due in zip(model.graph.output, elements(case.outputs), strict=False):
            if (value := results.get(info.name)) is not None and due.dtype != object:
                reason = difference(value, due, max(case.rtol, 1e-4), max(case.atol, 1e-5))
                wrong += [f"{case.name}: {reason}"] * bool(reason)
    assert not wrong, "\n".join(wrong)


def of_constants(case):
    """Return the model with its inputs as constants; its outputs go through Identity."""
    model = onnx.load_model_from_string(case.model)
    graph = model.graph
    for info, x in zip(graph.input, case.inputs, strict=True):
        graph.initializer.append(numpy_helper.from_array(np.asarray(x), info.name))
    del graph.input[:]
    return model


def test_every_version_is_compared_or_has_a_reason():
    made = {(v.domain, v.operator) for v in versions.versions()}
    left_out = {name for names in making.NOT_COMPARED for name in names.split()}
    for v in making.versions_of():
        assert ((v.domain, v.operator) in made) != (v.operator in left_out), v.name


def test_the_page_names_all_versions():
    """This needs no run: operators, versions, and what they changed."""
    section = report.sections_of(report.DOCS.read_text())[VERSIONS]
    rows = [line.strip("| \n").split(" | ") for line in section.splitlines() if " | " in line]
    due = report.version_rows()
    shown = {cells[0]: cells[:3] for cells in rows if cells[0] in due}
    remedy = "run python -m tools.conformance --collection old --collection versions --write-docs"
    assert shown == due, remedy


@needs_cases
@needs_onnxruntime
@pytest.mark.skipif(not LONG, reason="MPCONNXR_LONG=1 runs all cases")
def test_the_page_is_up_to_date(ready_target):
    cases = [*old_cases(), *version_cases()]
    rows = run_cases(cases, prepare_all(cases), ready_target("unix"))
    section = report.sections_of(report.DOCS.read_text())[VERSIONS]
    remedy = "run python -m tools.conformance --collection old --collection versions --write-docs"
    assert section.strip() == report.docs_text(rows).strip(), remedy
