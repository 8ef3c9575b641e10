"""Random graphs around each rewrite's pattern keep their values, and no rewrite fails.

No faulty rewrite is omitted here. MPCONNXR_LONG=1: ten times as many graphs.
"""

import os

import numpy as np
import pytest

from tests.host.converter.rewrites.random_graphs.families import ALL, BOARDS, QUANTIZED, graphs
from tests.host.converter.rewrites.random_graphs.running import (
    BOUND,
    difference,
    noise_of,
    run,
    runnable,
    wrong_types,
)
from tools.converter import load, pipeline
from tools.converter.reference import golden
from tools.converter.rewrites import qdq
from tools.converter.rewrites.qdq import wide
from tools.converter.simplify import simplify

LONG = os.environ.get("MPCONNXR_LONG") == "1"
N = 600 if LONG else 60
REFUSED = 0.1  # of the graphs, at most: onnxruntime does not take what onnx does


def module_of(rewrite):
    return rewrite.__module__.partition(".rewrites.")[2]


def rules_for_integers():
    """Return (module, name that the converter calls, rules in it) of all rules for integers."""
    return [
        (qdq, "_RULES", qdq._RULES),
        (qdq, "_FUSED", qdq._FUSED),
        (wide, "FUSED", wide.FUSED),
        (qdq, "scale_products", qdq.scale_products),
        (qdq, "unquantize", qdq.unquantize),
    ]


def each(rules, do):
    """Return the rules with do(rule, always) in the place of each.

    A rule that always applies raises if it does not fit.
    """
    if isinstance(rules, dict):
        return {op: do(rule, True) for op, rule in rules.items()}
    return (
        tuple(do(rule, False) for rule in rules) if isinstance(rules, tuple) else do(rules, False)
    )


@pytest.fixture
def found(monkeypatch):
    """Return a set that collects the modules whose rules for integers have applied."""
    names = set()

    def told(rule, always):
        def call(*args):
            done = rule(*args)
            if done or always:
                names.add(module_of(rule))
            return done

        return call

    for module, name, rules in rules_for_integers():
        monkeypatch.setattr(module, name, each(rules, told))
    return names


def checked(name, model, values):
    """Compare the values of the rewritten model; return the names of the rewrites that applied."""
    family, is_exact = ALL[name], name not in QUANTIZED and name not in BOARDS
    simple = simplify(load.prepare(model))
    expected = run(simple, values)
    assert not (wrong := difference(run(model, values), expected)), f"simplified: {wrong}"
    log = {}
    for level in (1, 2):
        notes: list[str] = []
        rewritten, log = pipeline.rewrite_model(simple, level, notes=notes)
        assert not notes, notes
        assert [o.name for o in rewritten.graph.output] == [o.name for o in model.graph.output], (
            log
        )
        assert not (wrong := wrong_types(rewritten)), f"types of {wrong}"
        bound = 0 if level == 1 and is_exact else BOUND
        got = run(runnable(rewritten), values)
        if family.steps is not None:
            wrong = difference(expected, got, bound, family.steps)
            if wrong and bound:
                noise = noise_of(simple, values, expected)
                wrong = difference(expected, got, bound, family.steps, noise)
            assert not wrong, f"level {level}: {wrong}, {log}"
    if name in BOARDS:
        before = got
        rewritten, log = pipeline.rewrite_model(
            rewritten, 2, notes=notes, group="rewrite_for_boards"
        )
        assert not notes, notes
        wrong = difference(before, run(runnable(rewritten), values), family.bound)
        assert not wrong, wrong
    return {module for module, n_places in log.items() if n_places}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_rewrites_keep_all_values(name, found):
    wrong, n_found, refused = [], 0, 0
    for seed, builder, model in graphs(ALL[name], N):
        values = list(builder.inputs.values())
        if golden.reference(model, values) is None:
            refused += 1
            continue
        found.clear()
        try:
            n_found += ALL[name].rewrite in {*checked(name, model, values), *found}
        except Exception as e:  # the next graphs may tell more
            operators = " ".join(node.op_type for node in model.graph.node)
            wrong.append(f"seed {seed}, opset {builder.opset}: {str(e)[:400]} in {operators}")
    assert not wrong, "\n".join(wrong)
    assert refused <= REFUSED * N
    assert n_found >= ALL[name].share * N


def test_each_rewrite_has_a_family():
    there = {member.module for one in pipeline.PASSES for member in one.members} - {"qdq"}
    for _, _, rules in rules_for_integers():
        each(rules, lambda rule, _: there.add(module_of(rule)))
    assert there == {family.rewrite for family in ALL.values()}


def test_a_change_of_values_is_found():
    one = np.float32([1, 2])
    assert difference([one], [one * np.float32(1 + 1e-4)])
    assert difference([one], [one * np.float32(1 + 1e-6)], 0)
    assert difference([one], [one[None]])
    assert difference([np.int8([1, 2, 3])], [np.int8([1, 3, 4])], steps=1)
