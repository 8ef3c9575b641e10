"""Functions of float32 by polynomials are within 1e-6 of doubles, for floats of any size."""

import math

import numpy as np
import pytest

from tests.host.ops.single_node import INF, NAN, model_of
from tools.converter.convert import Options, convert
from tools.converter.numbers.curves import table_of
from tools.converter.ops import _curves
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

TOLERANCE = 1e-6
LEAST = 1.5e-45  # where the result is denormal, a last bit comes to it
_GELU = math.sqrt(2 / math.pi)


def sigmoid(v):
    return 1 / (1 + math.exp(-v)) if v > -700 else 0.0


def softplus(v):
    return max(v, 0.0) + math.log1p(math.exp(-abs(v)))


def gelu_tanh(v):
    return v * sigmoid(2 * _GELU * (v + 0.044715 * v**3)) if abs(v) < 1e30 else max(v, 0.0)


def times(f):
    """Return v -> v * f(v), 0 at -infinity."""
    return lambda v: v * f(v) if v > -INF else 0.0


# Operator, attributes -> function of a double
FUNCTIONS = {
    ("Sigmoid",): sigmoid,
    ("Tanh",): math.tanh,
    ("Erf",): math.erf,
    ("Exp",): lambda v: math.exp(v) if v < 700 else INF,
    ("Softplus",): softplus,
    ("Mish",): times(lambda v: math.tanh(softplus(v))),
    ("Gelu",): times(lambda v: 0.5 * math.erfc(-v * math.sqrt(0.5))),
    ("Gelu", ("approximate", "tanh")): gelu_tanh,
    ("Swish", ("alpha", 1.0)): times(sigmoid),
    ("Swish", ("alpha", 1.702)): times(lambda v: sigmoid(float(np.float32(1.702)) * v)),
    ("Swish", ("alpha", 0.5)): times(lambda v: sigmoid(0.5 * v)),
    ("Elu", ("alpha", 1.0)): lambda v: v if v > 0 else math.expm1(v),
    ("Elu", ("alpha", 2.5)): lambda v: v if v > 0 else 2.5 * math.expm1(v),
    ("Celu", ("alpha", 2.0)): lambda v: v if v > 0 else 2 * math.expm1(v / 2),
    ("Sinh",): lambda v: math.sinh(v) if abs(v) < 700 else v * INF,
    ("Cosh",): lambda v: math.cosh(v) if abs(v) < 700 else INF,
    ("Atan",): math.atan,
    ("Selu",): lambda v: 1.0507010221481323 * (v if v > 0 else 1.673263192176819 * math.expm1(v)),
}


def inputs():
    rng = np.random.default_rng(3)
    near = [rng.normal(0, scale, 1500) for scale in (0.3, 3, 30)]
    far = 10.0 ** rng.uniform(-45, 38.5, 1000) * rng.choice([-1, 1], 1000)
    interface = 2.0 ** np.arange(-6, 8)[:, None] * [1, 1.25, 1.5, 1.75]
    interface = np.concatenate([interface, -interface]).astype(np.float32).ravel()
    around = [np.nextafter(interface, np.float32(to)) for to in (-INF, INF)]
    special = [0.0, -0.0, INF, -INF, 3.4e38, -3.4e38, 1e-45, -1e-45]
    with np.errstate(over="ignore"):
        return np.concatenate([*near, far, interface, *around, special]).astype(np.float32)


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_functions_are_exact_to_a_millionth(target):
    x = inputs()
    raw = np.append(x, np.float32(NAN))
    jobs = []
    for op, *attributes in FUNCTIONS:
        opset = 24 if op == "Swish" else 20
        converted = convert(model_of(op, [raw], opset=opset, **dict(attributes)), Options())
        assert [s.kernel for s in converted.graph.steps] == ["curve"]
        jobs.append(Job(converted.data, [[raw.tobytes()]]))
    for key, outcome in zip(FUNCTIONS, run_jobs(target, jobs), strict=True):
        assert not outcome.error, (key, outcome.message)
        got = np.frombuffer(outcome.runs[0].outputs[0], np.float32)
        assert got[-1:].view(np.uint32) == 0x7FC00000, key
        exact = np.array([FUNCTIONS[key](float(v)) for v in x])
        with np.errstate(over="ignore", invalid="ignore"):
            limit = np.where(np.isinf(exact.astype(np.float32)), np.sign(exact) * INF, exact)
        np.testing.assert_allclose(got[:-1], limit, TOLERANCE, LEAST, err_msg=str(key))


OTHERS = [("HardSigmoid", {"alpha": -0.2}), ("HardSigmoid", {"alpha": 0.2, "beta": 1.5})]
OTHERS += [("Swish", {"alpha": 1.5}), ("Elu", {"alpha": -1.0})]


@pytest.mark.parametrize("op, attributes", OTHERS)
def test_functions_without_a_table_use_floats(op, attributes):
    model = model_of(op, [np.zeros(16, np.float32)], opset=24, **attributes)
    assert [s.kernel for s in convert(model, Options()).graph.steps] == ["activation"]


def test_float_python_uses_floats():
    model = model_of("Tanh", [np.zeros(16, np.float32)])
    steps = convert(model, Options(float="python")).graph.steps
    assert [s.kernel for s in steps] == ["unary"]


@pytest.mark.parametrize("op", ["Sigmoid", "Tanh"])
def test_few_elements_use_a_formula(op, ready_target):
    x = np.append(inputs(), np.float32(NAN))
    rows = np.append(x, np.zeros(-len(x) % 9, np.float32)).reshape(-1, 9)
    converted = convert(model_of(op, [rows[0]]), Options())
    assert [s.kernel for s in converted.graph.steps] == ["formula"]
    job = Job(converted.data, [[row.tobytes()] for row in rows])
    outcome = run_jobs(ready_target("unix32"), [job])[0]
    got = np.frombuffer(b"".join(run.outputs[0] for run in outcome.runs), np.float32)
    exact = [FUNCTIONS[(op,)](float(v)) for v in x[:-1]]
    np.testing.assert_allclose(got[: len(x)], [*exact, NAN], TOLERANCE, LEAST)


def test_a_table_is_in_the_file_once():
    x = np.zeros((2, 9), np.float32)
    model = model_of("Gelu", [x])
    node = model.graph.node[0]
    model.graph.node.add().CopyFrom(node)
    node.output[0], model.graph.node[1].input[0] = "between", "between"
    steps = convert(model, Options()).graph.steps
    assert [s.kernel for s in steps] == ["curve", "curve"]
    assert steps[0].inputs[1] is steps[1].inputs[1]


_OPS = ("sigmoid", "tanh", "erf", "exp", "gelu", "softplus", "mish", "sinh", "cosh", "atan")


@pytest.mark.parametrize("op", _OPS)
def test_polynomials_are_more_exact_than_promised(op):
    table = table_of(*_curves.halves(op))
    assert table.error < TOLERANCE / 4
    assert all(0 <= w < 1 << 31 for w in table.words)
