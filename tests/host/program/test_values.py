"""Each call of a run reads what its input's own steps wrote last.

Recorded calls are followed over an arena that knows the owner of each byte: within a step, from
step to step, and between the bands of rows that a small arena has. Loops without declarations are
assumed to write their outputs; their reads are not checked.
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
    """The owner of each byte: the number of a root tensor."""

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
        """Return the ranges of other owners' bytes that a call reads; then make it write."""
        result = touched(call)
        own = [self.number(t) for t in step.inputs if t.root.data is None]
        in_arena = [r for r in result.reads if r.memory == "arena" and r.role == INPUT]
        wrong = [r for r in in_arena if not np.isin(self.owners[result.bytes_of(r)], own).all()]
        for r in result.writes:
            if r.memory == "arena":
                owner = self._of(step, r) if r.role == OUTPUT else SCRATCH
                self.owners[result.bytes_of(r)] = owner
        return wrong

    def _of(self, step, r):
        within = [t for t in step.outputs if t.offset <= r.low and r.high <= t.offset + t.nbytes]
        return self.number(within[0])


def strangers(converted):
    """Return (step, kernel, range) of all reads of another value's bytes."""
    recording = record(converted.data, has_form)
    arena, result = Arena(recording.arena_nbytes, converted.graph), []
    for recorded in recording.steps:
        step = converted.graph.steps[recorded.number]
        for call in recorded.calls:
            if isinstance(call, Call) and touched(call):
                wrong = arena.strangers(step, call)
                result += [(recorded.number, step.kernel, r) for r in wrong]
            else:
                for t in step.outputs:
                    arena.give(t)
    return result


def conversions(model, **options):
    """Yield conversions of a model: as it is, and in the smallest possible arena."""
    yield convert(model, Options(strip=True, **options))
    try:
        convert(model, Options(strip=True, arena=8, **options))
    except TooSmall as e:
        yield convert(model, Options(strip=True, arena=e.least, **options))


@pytest.mark.parametrize("kind", KINDS)
def test_layers_read_their_own_values(kind):
    for seed in range(100) if LONG else range(4):
        for converted in conversions(layer(kind, seed)[0]):
            assert not strangers(converted), seed


def test_bands_read_their_own_values():
    n_bands = 0
    for seed in range(150) if LONG else (7, 8, 15):
        whole, *others = conversions(Net(seed, TensorProto.UINT8).build())
        for converted in (whole, *others):
            assert not strangers(converted), seed
            n_bands += len(converted.graph.steps) > len(whole.graph.steps)
    assert n_bands >= (20 if LONG else 3)


def large_outputs():
    """Return convolutions of floats whose outputs are some million times their inputs."""
    nodes = [
        ("Conv", "x w0", "a", {"pads": [1, 1, 1, 1]}),
        ("Relu", "a", "b", {}),
        ("Conv", "b w1", "y", {"pads": [1, 1, 1, 1]}),
    ]
    shape, weights = (1, 4, 24, 24), {"w0": floats(6, 4, 3, 3), "w1": floats(4, 6, 3, 3, seed=2)}
    weights["w1"] *= np.float32(1e7)
    return small.model(nodes, [value("x", shape)], [value("y", shape)], **weights)


def test_bands_of_floats_have_the_exponent_of_all_their_input(target):
    """If the output overwrote the input, later bands would use the output's exponent."""
    converted = list(conversions(large_outputs()))
    assert [strangers(each) for each in converted] == [[], []]
    assert len(converted[1].graph.steps) > len(converted[0].graph.steps)
    x = floats(1, 4, 24, 24, seed=3).tobytes()
    outcomes = run_jobs(target, [Job(each.data, [[x]]) for each in converted])
    whole, bands = (np.frombuffer(o.runs[0].outputs[0], np.float32) for o in outcomes)
    assert np.abs(whole - bands).max() <= 1e-6 * np.abs(whole).max()


@zoo.needs_zoo
def test_models_of_the_collection_read_their_own_values():
    names = zoo.models()
    for name in names if LONG else [n for n in names if n.startswith("mlperf_kws")]:
        try:
            for converted in conversions(zoo.model_path(name), shapes=zoo.shapes(name)):
                assert not strangers(converted), name
        except CannotRecord:
            continue  # strings


def test_a_wrong_lead_is_found(monkeypatch):
    monkeypatch.setattr(_qoverlap, "behind", lambda *_: {0: 0})
    monkeypatch.setattr(calls, "check", lambda *_: [])  # convert would find it
    assert strangers(convert(layer("conv", 4)[0], Options(strip=True)))
