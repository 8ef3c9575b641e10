"""Functions of one tensor on MicroPython have the digits of numpy's doubles."""

import math

import numpy as np

from tests.host.ops.single_node import INF, NAN, SPECIALS, Case, check, on_targets

_WIDE = np.concatenate([[0.0], np.logspace(-44, 38, 165)])


def by_math(f, x):
    """Return f of each number, in doubles."""
    return np.array([f(float(v)) for v in x])


# Operator -> its function in doubles.
FUNCTIONS = {
    "Abs": np.abs,
    "Neg": np.negative,
    "Sign": np.sign,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Round": np.rint,
    "Reciprocal": np.reciprocal,
    "Sqrt": np.sqrt,
    "Exp": np.exp,
    "Log": np.log,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Asin": np.arcsin,
    "Acos": np.arccos,
    "Atan": np.arctan,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Tanh": np.tanh,
    "Asinh": np.arcsinh,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Erf": lambda x: by_math(math.erf, x),
    "Sigmoid": lambda x: np.where(x < 0, np.exp(x), 1) / (1 + np.exp(-np.abs(x))),
    "Softplus": lambda x: np.logaddexp(x, 0),
    "Softsign": lambda x: x / (1 + np.abs(x)),
    "Mish": lambda x: x * np.tanh(np.logaddexp(x, 0)),
    "Gelu": lambda x: 0.5 * x * by_math(math.erfc, -x / math.sqrt(2)),
    "Elu": lambda x: np.where(x > 0, x, np.expm1(x)),
    "Selu": lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
    "HardSigmoid": lambda x: np.clip(np.float32(0.2) * x + 0.5, 0, 1),
    "LeakyRelu": lambda x: np.where(x >= 0, x, np.float32(0.01) * x),
    "ThresholdedRelu": lambda x: np.where(x > 1, x, 0),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}


@on_targets
def test_functions_keep_their_digits(target):
    values = np.concatenate([_WIDE, -_WIDE, np.linspace(-8, 8, 161), [INF, -INF, NAN, 2**23 + 1]])
    x = values.astype(np.float32)
    cases = []
    with np.errstate(all="ignore"):
        for op, f in FUNCTIONS.items():
            # -inf * 0 is nan in the formula as written, but a limit where the factor decays first
            inputs = x[x != -INF] if op in ("Mish", "Gelu", "HardSwish") else x
            expected = f(inputs.astype(np.float64)).astype(np.float32)
            # Gelu's tail magnifies the rounding of x / sqrt(2) by x * x, about 100 at its end
            rtol = 6e-6 if op == "Gelu" else 2e-6
            cases.append(Case(expected, op, inputs, rtol=rtol))
    check(target, cases)


@on_targets
def test_functions_with_constants_keep_their_digits(target):
    x = np.concatenate([np.linspace(-6, 6, 49), SPECIALS[np.abs(SPECIALS) < INF]])
    x = x.astype(np.float32)
    d = x.astype(np.float64)
    with np.errstate(all="ignore"):
        tanh_gelu = 0.5 * d * (1 + np.tanh(math.sqrt(2 / math.pi) * (d + 0.044715 * d**3)))
        small = np.abs(d) < 3  # where this formula itself keeps its digits
        cases = [
            (np.where(x > 0, d, 2 * np.expm1(d / 2)), "Celu", x, {"alpha": 2.0}),
            (np.where(x > 0, d, 3 * np.expm1(d)), "Elu", x, {"alpha": 3.0}),
            (np.where(x > 4, d, 0), "ThresholdedRelu", x, {"alpha": 4.0}),
            (tanh_gelu[small], "Gelu", x[small], {"approximate": "tanh"}),
            (
                np.where(d < -1.5, d + 0.5, np.where(d > 1.5, d - 0.5, 0)),
                "Shrink",
                x,
                {"lambd": 1.5, "bias": 0.5},
            ),
        ]
        cases = [
            Case(expected.astype(np.float32), op, inputs, rtol=2e-6, **attrs)
            for expected, op, inputs, attrs in cases
        ]
    check(target, cases)


@on_targets
def test_predicates_and_logic_agree_with_numpy(target):
    x = np.array([INF, -INF, NAN, 0, -1], np.float32)
    flags = np.array([[True, False], [False, True]])
    row = np.array([True, False])
    check(
        target,
        [
            Case(np.isnan(x), "IsNaN", x),
            Case(np.isinf(x), "IsInf", x),
            Case(x == INF, "IsInf", x, detect_negative=0),
            Case(x == -INF, "IsInf", x, detect_positive=0),
            Case(np.zeros(5, bool), "IsInf", x, detect_positive=0, detect_negative=0),
            Case(~flags, "Not", flags),
            Case(flags & row, "And", flags, row),
            Case(flags | row, "Or", flags, row),
            Case(flags ^ row, "Xor", flags, row),
            Case(flags == row, "Equal", flags, row),
        ],
    )
