"""Operators of two or more tensors on MicroPython against numpy: special values first."""

import numpy as np

from tests.host.ops.single_node import (
    INF,
    INTS,
    SMALL,
    SPECIALS,
    Case,
    check,
    model_of,
    on_targets,
)
from tools.converter.convert import convert
from tools.converter.file import on_host
from tools.converter.ops import _elementwise

with on_host.package(None):
    from mpconnxr.ops import activation, binary, unary


def test_converter_and_device_number_the_operators_alike():
    assert [row[0] for row in binary._OPS] == list(_elementwise.BINARY)
    functions = [n.replace("half_even", "round") for n in unary._FUNCTIONS]
    assert [row[0] for row in unary._OPS] + functions == list(_elementwise.UNARY)
    assert len(activation._OPS) == len(_elementwise.ACTIVATION)
    for name, expression in zip(_elementwise.ACTIVATION, activation._OPS, strict=True):
        if name + "(" in expression:
            assert expression.startswith(f"{name}(")


BINARY_FLOAT = {
    "Add": np.add,
    "Sub": np.subtract,
    "Mul": np.multiply,
    "Div": np.divide,
    "Pow": np.power,
    "Min": np.minimum,
    "Max": np.maximum,
    "Equal": np.equal,
    "Less": np.less,
    "Greater": np.greater,
    "LessOrEqual": np.less_equal,
    "GreaterOrEqual": np.greater_equal,
    "Mod": np.fmod,
}


@on_targets
def test_floats_meet_infinities_and_zeros(target):
    a, b = SPECIALS[:, None], SPECIALS[None, :]
    cases = []
    with np.errstate(all="ignore"):
        for op, f in BINARY_FLOAT.items():
            attrs = {"fmod": 1} if op == "Mod" else {}
            # -0.0 and 0.0 to an odd negative power: infinities of their own signs
            cases.append(Case(f(a, b), op, a, b, rtol=2e-6, **attrs))
            wide = (a.astype(np.float64), b.astype(np.float64))
            cases.append(Case(f(*wide), op, *wide, rtol=1e-14, **attrs))
        x = np.vstack([SPECIALS, SPECIALS])
        slope = np.array([[0.5], [-2.0]], np.float32)
        cases.append(Case(np.where(x < 0, x * slope, x), "PRelu", x, slope))
    check(target, cases)


@on_targets
def test_quotients_by_powers_of_two_are_products(target):
    """Results are equal, denormal ones too; quotients by other numbers stay."""
    x = np.concatenate([SPECIALS, np.float32([1e-38, -3e-39, 1.4e-45, 3e38])])
    by = {"mul": np.float32([4, -0.25, 2.0**100]), "div": np.float32([4, 3, 0])}
    cases = []
    for kind, c in by.items():
        for divisor in (c[:, None], c[0]) if kind == "mul" else (c[:, None],):
            model = model_of(
                "Div", [x], {1: divisor}, (x.dtype, np.broadcast_shapes(x.shape, divisor.shape))
            )
            [step] = [s for s in convert(model).graph.steps if s.kernel == "binary"]
            assert list(_elementwise.BINARY)[step["op"]] == kind
            with np.errstate(all="ignore"):
                cases.append(Case(x / divisor, "Div", x, constants={1: divisor}))
    check(target, cases)


@on_targets
def test_integers_wrap_and_truncate(target):
    cases = []
    rng = np.random.default_rng(1)
    for dtype in INTS:
        info = np.iinfo(dtype)
        edge = np.array([info.min, info.min + 1, 1, 2, 7, info.max - 1, info.max], dtype)
        a = np.concatenate([edge, rng.integers(info.min, info.max, 9, dtype)])[:, None]
        b = np.concatenate([edge[:-1], np.array([3, info.max], dtype)])[None, :]
        nonzero = np.where(b == 0, np.array(5, dtype), b)
        with np.errstate(all="ignore"):
            quotient = a // nonzero
            quotient += (quotient < 0) & (quotient * nonzero != a)
            cases += [
                Case(a + b, "Add", a, b),
                Case(a - b, "Sub", a, b),
                Case(a * b, "Mul", a, b),
                Case(quotient, "Div", a, nonzero),
                Case(np.mod(a, nonzero), "Mod", a, nonzero),
                Case(np.fmod(a, nonzero), "Mod", a, nonzero, fmod=1),
                Case(np.maximum(a, b), "Max", a, b),
                Case(a & b, "BitwiseAnd", a, b),
                Case(a | b, "BitwiseOr", a, b),
                Case(a ^ b, "BitwiseXor", a, b),
                Case(~a, "BitwiseNot", a),
                Case(np.abs(a), "Abs", a),
                Case(a < b, "Less", a, b),
            ]
            if dtype in (np.int32, np.int64):
                cases.append(Case(a ** dtype(3), "Pow", a, np.array(3, dtype)))
            if info.min < 0:
                cases.append(Case(-a, "Neg", a))
            else:
                shifts = np.array([0, 1, info.bits - 1], dtype)
                cases.append(Case(a << shifts, "BitShift", a, shifts, direction="LEFT"))
                cases.append(Case(a >> shifts, "BitShift", a, shifts, direction="RIGHT"))
    check(target, cases)


@on_targets
def test_integer_division_by_zero_does_not_raise(target):
    a = np.array([5, -5, 0], np.int32)
    zero = np.zeros(3, np.int32)
    check(target, [Case(zero, op, a, zero) for op in ("Div", "Mod")])


@on_targets
def test_tensors_of_any_rank_are_broadcast(target):
    rng = np.random.default_rng(2)
    shapes = [
        ((), ()),
        ((5,), ()),
        ((), (2, 3)),
        ((2, 3, 4), (4,)),
        ((2, 3, 4), (3, 1)),
        ((1, 3, 1), (2, 1, 4)),
        ((2, 1, 3, 1, 2), (1, 4, 1, 5, 1)),
        ((3, 1, 2, 1, 2, 1, 2), (2, 1, 3, 1, 2, 1)),
        ((2, 3, 1, 1), (2, 3, 4, 5)),
        ((7, 1, 1), (1, 1, 6)),
    ]
    cases = []
    for a_shape, b_shape in shapes:
        a = np.asarray(rng.standard_normal(a_shape), np.float32)
        b = np.asarray(rng.standard_normal(b_shape), np.float32)
        cases.append(Case(a - b, "Sub", a, b))
        mask = rng.random(np.broadcast_shapes(a.shape, b.shape)[-1:]) < 0.5
        for dtype in (np.float32, np.int8, np.int16, np.int64, bool):
            p, q = (a * 50).astype(dtype), (b * 50).astype(dtype)
            cases.append(Case(np.where(mask, p, q), "Where", mask, p, q))
    check(target, cases)


@on_targets
def test_operators_accept_more_than_two_inputs(target):
    rng = np.random.default_rng(3)
    xs = [rng.standard_normal(s).astype(np.float32) for s in ((2, 3), (3,), (2, 1), ())]
    total = xs[0] + xs[1] + xs[2] + xs[3]
    ints = [rng.integers(-99, 99, (2, 3), np.int32) for _ in range(3)]
    check(
        target,
        [
            Case(total, "Sum", *xs, rtol=1e-6),
            Case(total / 4, "Mean", *xs, rtol=2e-6),
            Case(np.minimum(np.minimum(*ints[:2]), ints[2]), "Min", *ints),
            Case(np.maximum(np.maximum(*ints[:2]), ints[2]), "Max", *ints),
            Case(xs[0], "Max", xs[0]),
        ],
    )


@on_targets
def test_clip_agrees_with_numpy(target):
    x = np.concatenate([SPECIALS, np.linspace(-9, 9, 37).astype(np.float32)])
    cases = []
    for low, high in ((0, 6), (-3, -1), (-3, 2), (2, -2), (-INF, 0), (-0.0, INF)):
        limits = {1: np.float32(low), 2: np.float32(high)}
        limits = {i: np.asarray(v) for i, v in limits.items()}
        expected = np.minimum(np.maximum(x, limits[1]), limits[2])
        cases.append(Case(expected, "Clip", x, constants=limits))
        cases.append(Case(expected, "Clip", x, *limits.values()))
        cases.append(Case(expected, "Clip", x, opset=10, min=float(low), max=float(high)))
    for dtype in SMALL:
        v = np.arange(100).astype(dtype)
        limits = {1: np.array(7, dtype), 2: np.array(80, dtype)}
        cases.append(Case(np.clip(v, 7, 80), "Clip", v, constants=limits))
    check(target, cases)


@on_targets
def test_batch_normalization_agrees(target):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, 3, 4, 5)).astype(np.float32)
    scale, bias, mean = (rng.standard_normal(3).astype(np.float32) for _ in range(3))
    variance = rng.random(3).astype(np.float32) + np.float32(0.1)
    s, b, m, v = (t.astype(np.float64).reshape(3, 1, 1) for t in (scale, bias, mean, variance))
    expected = ((x - m) / np.sqrt(v + 1e-3) * s + b).astype(np.float32)
    params = [scale, bias, mean, variance]
    cases = [
        Case(expected, "BatchNormalization", x, *params, rtol=1e-5, epsilon=1e-3),
        Case(
            expected,
            "BatchNormalization",
            x,
            constants=dict(enumerate(params, 1)),
            rtol=1e-5,
            epsilon=1e-3,
        ),
    ]
    flat = x[:, :, 0, 0]
    cases.append(
        Case(
            expected[:, :, 0, 0],
            "BatchNormalization",
            flat,
            *params,
            rtol=1e-5,
            epsilon=1e-3,
            opset=9,
        )
    )
    check(target, cases)
