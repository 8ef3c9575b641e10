"""Drivers set the words that they change before they read them: other calls may share a block."""

import pytest

from mpconnxr.build import calls
from mpconnxr.build.loader import Loader
from mpconnxr.build.reader import Reader
from mpconnxr.errors import MpconnxrError
from tests.fuzz import seeds

POISON = -5, 3, 1 << 20


class Watch:
    """Replaces mpconnxr.model.of_two, which calls drivers.

    Attributes:
        changed: the words that a driver has changed in blocks of one length, except those that the
            kernel names.
        poison: value of these words before each call, None in the run that collects them.
    """

    def __init__(self, monkeypatch):
        self.changed, self.poison, self.left, self.drivers = {}, None, {}, set()
        drive, watch = calls.Calls.drive, self

        def noted(self, loop, p, w, left=()):
            watch.left.setdefault(loop, set()).update(left)
            drive(self, loop, p, w, left)

        monkeypatch.setattr(calls.Calls, "drive", noted)
        monkeypatch.setattr(calls, "of_two", self)

    def __call__(self, p, w, loop, _):
        changed = self.changed.setdefault((loop, len(p)), set())
        if self.poison is not None:
            for i in changed:
                p[i] = self.poison
            loop(p, w)
            return
        before = list(p)
        loop(p, w)
        changed |= {i for i, word in enumerate(before) if p[i] != word} - self.left[loop]
        if changed:
            self.drivers.add(loop.__module__)


def run(data):
    """Return all outputs of a model."""
    loader = Loader(Reader(data, False))
    for t in loader.inputs:
        if t.dtype == "float32":
            for i in range(t.nelem):
                t.data[i] = (i * 37 % 11 - 5) / 3
    for n, step in loader.steps:
        step(0, n)
    return repr([list(t.data) for t in loader.outputs])


@pytest.mark.slow
def test_words_that_a_driver_changes_are_set_first(monkeypatch):
    watch, original = Watch(monkeypatch), {}
    for seed in [seed for some in seeds.collection().values() for seed in some]:
        try:
            original[seed.name] = seed, run(seed.data)
        except (MpconnxrError, ValueError):  # no model for this computer, or its values
            continue
    assert sum(map(len, watch.changed.values())) > 200 and len(watch.drivers) >= 10
    for watch.poison in POISON:  # noqa: B020
        for seed, results in original.values():
            assert run(seed.data) == results, seed.name
