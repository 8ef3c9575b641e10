"""State that runs carry on (--state): streaming gives the outputs of the whole sequence."""

import numpy as np
import onnx
import pytest

from tests.host import zoo
from tests.host.device import small
from tests.host.device.binfile import File
from tools.converter.convert import Options, convert
from tools.converter.reference.ort_session import open_session
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STEPS, BATCH, INPUTS, HIDDEN = 7, 2, 3, 4


def recurrent(op, steps):
    """Return a model over some time steps whose states are inputs and outputs."""
    states = ["h", "c"] if op == "LSTM" else ["h"]
    shape = (1, BATCH, HIDDEN)
    rows = GATES[op] * HIDDEN
    into, out = [f"{s}0" for s in states], [f"{s}n" for s in states]
    node = (op, "x w r b", f"y {' '.join(out)}", {"hidden_size": HIDDEN})
    proto = small.model(
        [node],
        [small.value("x", (steps, BATCH, INPUTS))] + [small.value(s, shape) for s in into],
        [small.value("y", (steps, 1, BATCH, HIDDEN))] + [small.value(s, shape) for s in out],
        w=small.floats(1, rows, INPUTS, seed=1),
        r=small.floats(1, rows, HIDDEN, seed=2),
        b=small.floats(1, 2 * rows, seed=3),
    )
    proto.graph.node[0].input.extend(["", *into])  # no sequence_lens
    return proto, dict(zip(into, out, strict=True))


@every_target
@pytest.mark.parametrize("op", GATES)
def test_single_steps_give_the_whole_sequence(target, op):
    x = small.floats(STEPS, BATCH, INPUTS, seed=4)
    whole, states = recurrent(op, STEPS)
    zeros = [np.zeros((1, BATCH, HIDDEN), np.float32)] * len(states)
    want = small.expected(whole, x, *zeros)[0]
    converted = convert(recurrent(op, 1)[0], Options(strip=True, state=states))
    assert [step.kernel for step in converted.graph.steps] == ["gated"]  # written in place
    [outcome] = run_jobs(target, [Job(converted.data, [[row.tobytes()] for row in x])])
    assert not outcome.error, outcome.message
    got = [np.frombuffer(run.outputs[0], np.float32) for run in outcome.runs]
    np.testing.assert_allclose(np.stack(got).reshape(want.shape), want, rtol=1e-5, atol=1e-6)


def swapping():
    """Return y = a + b; next a = b, next b = a + x: each is read after the other is set."""
    nodes = [
        ("Add", "a x", "bn", {}),
        ("Identity", "b", "an", {}),
        ("Add", "a b", "y", {}),
    ]
    names = ("x", "a", "b"), ("y", "an", "bn")
    return small.model(nodes, *([small.value(n, (3,)) for n in group] for group in names))


SWAPPED = {"a": "an", "b": "bn"}


def swapped(runs):
    """Return y of each run with x = 1, 2, 3, ..."""
    a, b, result = 0, 0, []
    for x in range(1, runs + 1):
        result.append(float(a + b))
        a, b = b, a + x
    return result


@every_target
def test_states_that_swap_are_copied(target):
    script = """
import mpconnxr
m = mpconnxr.load("m.bin")
for run in range(2):
    print([m.run([x] * 3)[0].data[2] for x in range(1, 8)])
    m.reset()
print([t.name for t in m.inputs + m.outputs], m.state_nbytes)
"""
    converted = convert(swapping(), Options(state=SWAPPED))
    assert converted.report()["state_bytes"] == 32
    printed = small.lines(target, script, m=converted.data)
    assert printed == [str(swapped(7))] * 2 + ["['x', 'y'] 28"]


@every_target
def test_models_in_one_arena_keep_their_states(target):
    script = """
import mpconnxr
arena = bytearray(2000)
models = [mpconnxr.load("m.bin", arena=arena) for _ in range(2)]
other = mpconnxr.load("other.bin", arena=arena)
found = [], []
for x in range(1, 6):
    for m, values in zip(models, found):
        values.append(m.run([x] * 3)[0].data[0])
        other.run([9] * 200)
print(found[0])
print(found[1])
"""
    m = small.binary(swapping(), state=SWAPPED)
    other = small.binary(small.relu((200,)))
    assert small.lines(target, script, m=m, other=other) == [str(swapped(5))] * 2


def test_golden_vectors_start_from_zeros(target):
    script = """
from mpconnxr import golden
import mpconnxr
print(golden.verify("m.bin").ok)
"""
    proto, states = recurrent("LSTM", 1)
    data = convert(proto, Options(state=states)).data
    assert small.lines(target, script, m=data) == ["True"]


@every_target
@pytest.mark.parametrize("mode", [("bits", "7"), ("words", "1"), ("several", "1000")])
def test_damaged_models_with_state_do_no_harm(target, mode):
    report = small.damage(target, small.binary(swapping(), state=SWAPPED), *mode)
    assert report.ok and report.refused > 100 and report.ran > 20, report


def test_invalid_states_in_a_file_are_refused(target):
    """Storage class 3 requires its feature and enough memory."""
    good = small.binary(swapping(), state=SWAPPED)
    script = """
import mpconnxr
for name in ("feature.bin", "far.bin"):
    try:
        mpconnxr.load(name, verify=False)
    except mpconnxr.MpconnxrError as e:
        print(type(e).__name__, e)
"""
    without = good[:12] + bytes(4) + good[16:]
    file = File(good)
    at, *_, dims, _, _ = next(t for t in file.tensors if t[2] == 3)
    far = file.changed((at + 3 + len(dims), 0x7FFFFF00))
    printed = small.lines(target, script, feature=without, far=far)
    assert printed[0].startswith("ModelError") and "storage class" in printed[0]
    assert printed[1].startswith("ArenaError")


@zoo.needs_zoo
@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("silero_vad_16k_ifless", {"state": "stateN"}),
        ("dtln_model_1_lstm", {"input_3": "tf_op_layer_stack_2"}),
    ],
)
def test_real_models_run_as_a_stream(target, name, state):
    """Their samples are one stream from zeros; onnxruntime gets its own states."""
    session = open_session(onnx.load(zoo.model_path(name)))
    xs = [zoo.sample(name, k, "input") for k in range(3)]
    first, held = session.inputs[0], np.zeros_like(xs[0][1])
    want = []
    for x, _ in xs:
        y, held = session.run(None, {first: x, next(iter(state)): held})
        want.append(y)
    converted = convert(zoo.model_path(name), Options(strip=True, state=state))
    [outcome] = run_jobs(
        target, [Job(converted.data, [[x.tobytes()] for x, _ in xs])], timeout=300
    )
    assert not outcome.error, outcome.message
    for run, y in zip(outcome.runs, want, strict=True):
        got = np.frombuffer(run.outputs[0], np.float32).reshape(y.shape)
        assert np.abs(got - y).max() <= 1e-4 * np.abs(y).max()
