"""Each call of a run reads, as an input of its step, what the input's own steps wrote last.

Recorded calls are followed over an arena whose bytes know whose they are: within a step, from
step to step, and between the bands of rows that a small arena has. Loops that nothing declares are
taken to write their outputs, and nothing is said of what they read.
"""

import numpy as np
import pytest
from onnx import TensorProto

from tests.host import zoo
from tests.host.converter.plan.test_patches import Net
from tests.host.device import small
from tests.host.device.small import floats, value
from tests.host.program.test_cores import LONG
from tests.host.program.test_recorded_kernels import has_form
from tests.host.random_layers import KINDS, layer
from tools.converter.convert import Options, convert
from tools.converter.errors import TooSmall
from tools.converter.ops import _qoverlap
from tools.converter.verify import calls
from tools.harness import Job, run_jobs
from tools.program.call import INPUT, OUTPUT, Call, CannotRecord
from tools.program.record import record
from tools.program.touched import touched

NOBODY, SCRATCH = -1, -2


class Arena:
    """Whose each byte is: the number of a root tensor."""

    def __init__(self, nbytes, graph):
        self.owners = np.full(nbytes, NOBODY)
        self._numbers = {}
        for t in graph.inputs:
            self.give(t)

    def number(self, t):
        return self._numbers.setdefault(t.root, len(self._numbers))

    def give(self, t):
        if t.root.data is None and not t.root.persistent:
            self.owners[t.offset : t.offset + t.nbytes] = self.number(t)

    def strangers(self, step, call):
        """Ranges that a call reads in which others have written; then it writes."""
        found = touched(call)
        own = [self.number(t) for t in step.inputs if t.root.data is None]
        in_arena = [r for r in found.reads if r.memory == "arena" and r.role == INPUT]
        wrong = [r for r in in_arena if not np.isin(self.owners[found.bytes_of(r)], own).all()]
        for r in found.writes:
            if r.memory == "arena":
                owner = self._of(step, r) if r.role == OUTPUT else SCRATCH
                self.owners[found.bytes_of(r)] = owner
        return wrong

    def _of(self, step, r):
        within = [t for t in step.outputs if t.offset <= r.low and r.high <= t.offset + t.nbytes]
        return self.number(within[0])


def strangers(done):
    """(step, kernel, range) of all reads of what is another value's. Raises CannotRecord."""
    recording = record(done.data, has_form)
    arena, found = Arena(recording.arena_nbytes, done.graph), []
    for recorded in recording.steps:
        step = done.graph.steps[recorded.number]
        for call in recorded.calls:
            if isinstance(call, Call) and touched(call):
                wrong = arena.strangers(step, call)
                found += [(recorded.number, step.kernel, r) for r in wrong]
            else:
                for t in step.outputs:
                    arena.give(t)
    return found


def conversions(model, **options):
    """Conversions of a model: as it is, and in the smallest arena that the planner finds."""
    yield convert(model, Options(strip=True, **options))
    try:
        convert(model, Options(strip=True, arena=8, **options))
    except TooSmall as e:
        yield convert(model, Options(strip=True, arena=e.least, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_layers(kind):
    for seed in range(100) if LONG else range(4):
        for done in conversions(layer(kind, seed)[0]):
            assert not strangers(done), seed


def test_bands():
    n_bands = 0
    for seed in range(150) if LONG else (7, 8, 15):
        whole, *others = conversions(Net(seed, TensorProto.UINT8).build())
        for done in (whole, *others):
            assert not strangers(done), seed
            n_bands += len(done.graph.steps) > len(whole.graph.steps)
    assert n_bands >= (20 if LONG else 3)


def large_outputs():
    """Convolutions of floats whose outputs are some million times their inputs."""
    nodes = [
        ("Conv", "x w0", "a", {"pads": [1, 1, 1, 1]}),
        ("Relu", "a", "b", {}),
        ("Conv", "b w1", "y", {"pads": [1, 1, 1, 1]}),
    ]
    shape, weights = (1, 4, 24, 24), {"w0": floats(6, 4, 3, 3), "w1": floats(4, 6, 3, 3, seed=2)}
    weights["w1"] *= np.float32(1e7)
    return small.model(nodes, [value("x", shape)], [value("y", shape)], **weights)


def test_bands_of_floats_have_the_exponent_of_all_their_input(target):
    """Were the output over it, that would be the output's, and the input's bits would be lost."""
    done = list(conversions(large_outputs()))
    assert [strangers(each) for each in done] == [[], []]
    assert len(done[1].graph.steps) > len(done[0].graph.steps)
    x = floats(1, 4, 24, 24, seed=3).tobytes()
    outcomes = run_jobs(target, [Job(each.data, [[x]]) for each in done])
    whole, bands = (np.frombuffer(o.runs[0].outputs[0], np.float32) for o in outcomes)
    assert np.abs(whole - bands).max() <= 1e-6 * np.abs(whole).max()


@zoo.needs_zoo
def test_collection():
    names = zoo.models()
    for name in names if LONG else [n for n in names if n.startswith("mlperf_kws")]:
        try:
            for done in conversions(zoo.model_path(name), shapes=zoo.shapes(name)):
                assert not strangers(done), name
        except CannotRecord:
            continue  # strings


def test_a_wrong_lead_is_found(monkeypatch):
    monkeypatch.setattr(_qoverlap, "behind", lambda *_: {0: 0})
    monkeypatch.setattr(calls, "check", lambda *_: [])  # convert would find it
    assert strangers(convert(layer("conv", 4)[0], Options(strip=True)))
