"""LSTM, GRU and RNN agree with onnxruntime over their options; then cases that it lacks."""

import numpy as np
import pytest

from tests.host.ops.recurrent_case import GATES, cases, error_of, model_of
from tools import package
from tools.converter.convert import convert
from tools.converter.errors import UnsupportedModel
from tools.converter.reference.ort_session import open_session
from tools.harness import Job, run_jobs

PACKAGE = package.folder()
TOLERANCE = 1e-5  # of the largest value in Y, Y_h and Y_c


@pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain"], indirect=True)
@pytest.mark.parametrize("op", GATES)
def test_layers_agree_with_onnxruntime(op, target):
    chosen = cases(op)[:: 4 if target.name == "unix-plain" else 1]
    wrong = []
    for case, outcome in zip(chosen, run_jobs(target, [c.job for c in chosen]), strict=True):
        if outcome.error:
            wrong.append(f"{case}: {outcome.error} {outcome.message}")
            continue
        for name, got in zip(case.expected, outcome.runs[0].outputs, strict=True):
            error = error_of(case, name, got)
            if not error <= TOLERANCE:
                wrong.append(f"{case}: {name} is {error} off")
    assert not wrong, "\n".join(wrong)


# Runs a model in pieces of its steps, twice (state must not linger), then as a whole.
PIECES = """
import sys
import mpconnxr
for i in range(int(sys.argv[1])):
    model = mpconnxr.load("{}.bin".format(i))
    runs = []
    for piece in (1, 4, 99):
        for k, t in enumerate(model.inputs):
            t.view("B")[:] = open("{}_{}".format(i, k), "rb").read()
        for n, step in model._steps:
            for lo in range(0, n, piece):
                step(lo, min(lo + piece, n))
        runs.append([bytes(t.view("B")) for t in model.outputs])
    print(runs[0] == runs[1] == runs[2])
"""


def test_sequences_in_parts_give_the_same(target):
    chosen = [
        c for op in GATES for c in cases(op) if len(c.values["X"]) == 6 and "lens" in c.values
    ]
    files = {"mpconnxr": PACKAGE}
    for i, case in enumerate(chosen):
        files[f"{i}.bin"] = case.job.model
        files |= {f"{i}_{k}": raw for k, raw in enumerate(case.job.samples[0])}
    completed = target.run(PIECES, files=files, args=[str(len(chosen))])
    assert completed.stdout.split() == ["True"] * len(chosen), completed.stderr


SPECIAL = [
    -np.inf,
    -3e38,
    -100,
    -20,
    -3,
    -1e-3,
    -0.0,
    1e-30,
    1e-3,
    0.7,
    1.1,
    20,
    100,
    3e38,
    np.inf,
]
SPECIAL = np.array([*SPECIAL, np.nan], np.float32)

# By definition, with the defaults of the ONNX operators of these names, or with 0.5 and 0.25.
FORMULAS = {
    "Relu": lambda x: np.maximum(x, 0),
    "Tanh": np.tanh,
    "Sigmoid": lambda x: np.exp(-np.logaddexp(0, -x)),
    "Affine": lambda x: x,
    "LeakyRelu": lambda x: np.where(x < 0, 0.01 * x, x),
    "ThresholdedRelu": lambda x: np.where(x <= 1, 0, x),
    "ScaledTanh": lambda x: 0.5 * np.tanh(0.25 * x),
    "HardSigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Softplus": lambda x: np.logaddexp(0, x),
}


def one_step(activation, **attributes):
    """Return an RNN whose output is its activation of each element of X."""
    values = {"X": SPECIAL.reshape(1, -1, 1), "W": np.ones((1, 1, 1)), "R": np.zeros((1, 1, 1))}
    values = {n: v.astype(np.float32) for n, v in values.items()}
    if activation == "ScaledTanh":
        attributes |= {"activation_alpha": [0.5], "activation_beta": [0.25]}
    attributes |= {"activations": [activation], "hidden_size": 1}
    model = model_of("RNN", values, ["W", "R"], ["Y"], 22, attributes)
    return Job(convert(model).data, [[SPECIAL.tobytes()]])


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_activations_of_extreme_values_are_right(target):
    outcomes = run_jobs(target, [one_step(name) for name in FORMULAS])
    for (name, formula), outcome in zip(FORMULAS.items(), outcomes, strict=True):
        assert not outcome.error, (name, outcome.message)
        got = np.frombuffer(bytes(outcome.runs[0].outputs[0]), np.float32)
        with np.errstate(all="ignore"):
            expected = formula(SPECIAL.astype(np.float64)).astype(np.float32)
        np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-37, err_msg=name)


@pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain"], indirect=True)
@pytest.mark.parametrize("op", GATES)
def test_infinities_and_nan_are_right(op, target):
    """Steps before the first one keep their bits; later steps are as in onnxruntime."""
    rng = np.random.default_rng(3)
    shapes = {"X": (5, 1, 4), "W": (1, GATES[op] * 3, 4), "R": (1, GATES[op] * 3, 3)}
    values = {n: rng.standard_normal(s).astype(np.float32) for n, s in shapes.items()}
    model = model_of(op, values, ["W", "R"], ["Y"], 14, {"hidden_size": 3})
    data, x = convert(model).data, [values["X"].copy() for _ in range(3)]
    x[1][2, 0, 1], x[2][3, 0, 0] = np.inf, np.nan
    outcomes = run_jobs(target, [Job(data, [[v.tobytes()]]) for v in x])
    results = [np.frombuffer(o.runs[0].outputs[0], np.float32).reshape(5, 3) for o in outcomes]
    session = open_session(model)
    for got, v, first in zip(results, x, (5, 2, 3), strict=True):
        assert got[:first].tobytes() == results[0][:first].tobytes()
        [expected] = session.run(None, {"X": v})
        np.testing.assert_allclose(got, expected.reshape(5, 3), rtol=0, atol=TOLERANCE)


def small(op="LSTM", opset=14, lens=None, constant=("W", "R"), **attributes):
    """Return a converted node of 2 time steps and a batch of 1."""
    rows = GATES[op] * 2
    values = {"X": np.ones((2, 1, 3)), "W": np.ones((1, rows, 3)), "R": np.ones((1, rows, 2))}
    values = {n: v.astype(np.float32) for n, v in values.items()}
    if lens is not None:
        values["lens"] = np.array([lens], np.int32)
    attributes["hidden_size"] = attributes.get("hidden_size", 2)
    return convert(model_of(op, values, constant, ["Y"], opset, attributes))


@pytest.mark.parametrize(
    ("reason", "options"),
    [
        ("sequence_lens outside 0 .. 2", {"lens": 3, "constant": ("W", "R", "lens")}),
        ("activation Sine", {"activations": ["Sigmoid", "Sine", "Tanh"]}),
        ("2 activations for 1 directions", {"activations": ["Sigmoid", "Tanh"]}),
        ("ScaledTanh without activation_alpha", {"activations": ["ScaledTanh"] * 3}),
        ("clip -1.0 is not positive", {"clip": -1.0}),
        ("direction bidirectional with 1 sets", {"direction": "bidirectional"}),
        (r"W float32 \[1, 8, 3\] where float32 \[1, 20, 3\]", {"hidden_size": 5}),
    ],
)
def test_nonsensical_nodes_are_refused(reason, options):
    with pytest.raises(UnsupportedModel, match=reason):
        small(**options)


def test_a_length_out_of_range_is_an_input_error(target):
    model = small(lens=0).data
    x = np.ones(6, np.float32).tobytes()
    jobs = [Job(model, [[x, np.int32(n).tobytes()]]) for n in (-1, 0, 2, 3)]
    assert [o.error for o in run_jobs(target, jobs)] == ["InputError", "", "", "InputError"]


def test_macs_are_nominal():
    assert [s.macs for s in small("GRU").graph.steps] == [2 * 1 * 3 * 2 * (3 + 2)]


CELLS = {
    "RNN": [{}, {"activations": ["Relu"], "clip": 0.5}],
    "GRU": [{}, {"linear_before_reset": 1}, {"activations": ["HardSigmoid", "Affine"]}],
    "LSTM": [{"activations": ["HardSigmoid", "Tanh", "ScaledTanh"], "clip": 0.5}],
}
CELLS["LSTM"][0] |= {"activation_alpha": [0.2, 0.9], "activation_beta": [0.5, 1.1]}
CELLS["LSTM"][0]["input_forget"] = 1


@pytest.mark.parametrize("op", CELLS)
def test_a_step_allocates_nothing(op, ready_target):
    script = package.ROOT / "tests" / "device" / "allocation.py"
    for attributes in CELLS[op]:
        files = {"mpconnxr": PACKAGE, "x.bin": np.ones(6, np.float32).tobytes()}
        files["model.bin"] = small(op, **attributes).data
        for name in ("unix", "unix32"):
            completed = ready_target(name).run(script, files=files)
            assert completed.stdout.split()[:2] == ["0", "0"], (attributes, completed.stderr)
