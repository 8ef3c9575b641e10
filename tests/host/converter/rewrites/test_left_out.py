"""A rewrite that fails is left out: the model is converted without it, and a note says so."""

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
    """Changes half of what it wants to."""
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


def test_the_others_are_applied_to_what_was_there_before(model, monkeypatch):
    add_rewrite(monkeypatch, broken, level=1, name="broken", at=3)
    model = simplify(load.prepare(model))
    notes = []
    done, _ = pipeline.rewrite_model(model, 1, notes=notes)
    assert len(notes) == 1
    assert "rewrite broken left out, it failed (LookupError: nothing there)" in notes[0]
    compare(model, done, [randn(3, 4)], 0)


def test_so_are_quantized_operators(model, monkeypatch):
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
    done = convert(model, Options(strip=True))
    assert sum("rewrite qdq left out" in note for note in done.notes) == 1
    assert np.prod(done.graph.outputs[0].shape) == 12
