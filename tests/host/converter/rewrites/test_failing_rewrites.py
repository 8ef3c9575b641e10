"""A rewrite that fails is omitted: the model is converted without it, and a note says so."""

from dataclasses import replace

import numpy as np
import pytest

from tests.host.converter.rewrites.graphs import add_rewrite, compare, randn
from tests.host.device import small
from tools.converter import load, pipeline
from tools.converter.convert import Options, convert
from tools.converter.rewrites import qdq
from tools.converter.simplify import simplify


def broken(model):
    """Rewrite half of a pattern, then fail."""
    model.graph.node("neg").op_type = "Abs"
    raise LookupError("nothing there")


@pytest.fixture
def model():
    nodes = [
        ("Transpose", "x", "t", {"perm": [1, 0]}),
        ("Neg", "t", "n", {}),
        ("Relu", "n", "y", {}),
    ]
    proto = small.model(nodes, [small.value("x", (3, 4))], [small.value("y", (4, 3))])
    proto.graph.node[1].name = "neg"
    return proto


def test_other_rewrites_apply_to_the_graph_before_the_failure(model, monkeypatch):
    add_rewrite(monkeypatch, broken, level=1, name="broken", at=3)
    model = simplify(load.prepare(model))
    notes = []
    rewritten, _ = pipeline.rewrite_model(model, 1, notes=notes)
    assert len(notes) == 1
    assert "rewrite broken left out, it failed (LookupError: nothing there)" in notes[0]
    compare(model, rewritten, [randn(3, 4)], 0)


def test_a_failing_quantized_rewrite_is_omitted(model, monkeypatch):
    def fails(*_):
        raise ValueError("no")

    def failing(member):
        return replace(member, apply=fails, first_on=lambda model: True)

    fails.__module__ = qdq.__name__
    passes = [
        replace(one, members=tuple(failing(m) if m.name == "qdq" else m for m in one.members))
        for one in pipeline.PASSES
    ]
    monkeypatch.setattr(pipeline, "PASSES", passes)
    converted = convert(model, Options(strip=True))
    assert sum("rewrite qdq left out" in note for note in converted.notes) == 1
    assert np.prod(converted.graph.outputs[0].shape) == 12
