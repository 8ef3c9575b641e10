"""Logarithms, sums and interpolation on the bits of float32: to a millionth, no allocation."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.single_node import INF, NAN, model_of
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

RNG = np.random.default_rng(6)
TOLERANCE = 1e-6
LAST_BIT = 2.0**-24  # half of one


def outputs(target, model, *inputs):
    converted = convert(model, Options())
    [outcome] = run_jobs(target, [Job(converted.data, [[x.tobytes() for x in inputs]])])
    assert not outcome.error, outcome.message
    return np.frombuffer(outcome.runs[0].outputs[0], np.float32), converted.graph.steps


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_logarithms_are_exact_to_a_millionth(target):
    one, root = (np.float32(v).view(np.int32) for v in (1, 2**0.5))
    near = np.concatenate([one + np.arange(-500, 500), root + np.arange(-50, 50)])
    around = 1 + RNG.normal(0, 1, 1500) * 10.0 ** RNG.uniform(-6, -1, 1500)
    special = [0.0, -0.0, INF, -INF, NAN, -1.0, -1e-45, 1e-45, 1.0]
    x = [near.astype(np.int32).view(np.float32), around, 10.0 ** RNG.uniform(-45, 38.5, 2000)]
    x = np.concatenate([*x, special]).astype(np.float32)
    got, steps = outputs(target, model_of("Log", [x]), x)
    assert [s.kernel for s in steps] == ["formula"]
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(got, np.log(x.astype(np.float64)), TOLERANCE, 0)


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("op", ["Sin", "Cos"])
def test_sines_are_exact_for_any_angle(target, op):
    """The double of a float is reduced exactly, so numpy's doubles are exact."""
    turns = np.arange(1, 1500) * np.pi / 2
    large = 10.0 ** RNG.uniform(-45, 38.5, 1500) * RNG.choice([-1, 1], 1500)
    special = [0.0, -0.0, INF, -INF, NAN, 16367173 * 2.0**72]
    x = np.concatenate([turns, turns * 1e5, RNG.normal(0, 3, 1500), large, special])
    x = x.astype(np.float32)
    got, steps = outputs(target, model_of(op, [x]), x)
    assert [s.kernel for s in steps] == ["formula"]
    with np.errstate(invalid="ignore"):
        exact = getattr(np, op.lower())(x.astype(np.float64))
    np.testing.assert_allclose(got, exact, 2e-7, 1.5e-45)


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("op, name", [("Asin", "arcsin"), ("Acos", "arccos")])
def test_inverse_functions_are_exact_to_a_millionth(target, op, name):
    """Numbers near 1 are included, where acos is small and both are steep."""
    beside = (1 - 2.0**-24 * np.arange(1, 300)) * RNG.choice([-1, 1], 299)
    small = 10.0 ** RNG.uniform(-45, 0, 500) * RNG.choice([-1, 1], 500)
    special = [0.0, -0.0, 1, -1, 1 + 2.0**-23, -1 - 2.0**-23, 3, -7, INF, -INF, NAN]
    x = np.concatenate([RNG.uniform(-1, 1, 1000), beside, small, special]).astype(np.float32)
    got, steps = outputs(target, model_of(op, [x]), x)
    assert steps[-1].kernel == "curve"
    with np.errstate(invalid="ignore"):
        exact = getattr(np, name)(x.astype(np.float64))
    np.testing.assert_allclose(got, exact, TOLERANCE, 1.5e-45)


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("lambd, bias", [(0.5, 0.0), (0.5, 0.5), (1.5, 0.3), (0.0, -2.0)])
def test_shrink_agrees_with_numpy(target, lambd, bias):
    special = [0.0, -0.0, 0.5, -0.5, INF, -INF, NAN, 1e-45, 3e38]
    x = np.append(RNG.normal(0, 2, 500), special).astype(np.float32)
    got, steps = outputs(target, model_of("Shrink", [x], lambd=lambd, bias=bias), x)
    assert "activation" not in [s.kernel for s in steps]
    b, c = np.float32(bias), np.float32(lambd)
    np.testing.assert_array_equal(got, np.where(x < -c, x + b, np.where(x > c, x - b, 0)))


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_hardmax_marks_the_first_of_equal_ones(target, axis):
    x = RNG.integers(-3, 3, (5, 9, 6)).astype(np.float32)
    got, steps = outputs(target, model_of("Hardmax", [x], axis=axis), x)
    assert [s.kernel for s in steps] == ["arg_reduce", "one_hot"]
    places = np.arange(x.shape[axis]).reshape([-1 if i == axis % 3 else 1 for i in range(3)])
    expected = places == np.expand_dims(x.argmax(axis), axis)
    np.testing.assert_array_equal(got, expected.astype(np.float32).ravel())


def reduction(op, x, axes):
    inputs, shape = [small.value("x", x.shape)], np.delete(x.shape, axes)
    node = ("Reduce" + op, "x axes", "y", {"keepdims": 0})
    outputs = [small.value("y", shape.tolist())]
    return small.model([node], inputs, outputs, 18, axes=np.array(axes, np.int64))


SUMS = {
    "Sum": lambda x: x.sum(1),
    "L1": lambda x: np.abs(x).sum(1),
    "SumSquare": lambda x: (x * x).sum(1),
    "L2": lambda x: np.sqrt((x * x).sum(1)),
}


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("shape", [(40, 7, 5), (60, 33, 1), (1, 40_000, 1)])
def test_sums_are_rounded_once(target, shape):
    """Numbers of very different sizes are summed, and such as nearly cancel."""
    x = 10.0 ** RNG.uniform(-12, 12, shape) * RNG.choice([-1, 1], shape)
    x[::2, 1] = -x[::2, 0] * (1 + RNG.uniform(-1e-6, 1e-6, x[::2, 0].shape))
    x = x.astype(np.float32)
    wide = x.astype(np.longdouble)
    for op, f in SUMS.items():
        got, steps = outputs(target, reduction(op, x, [1]), x)
        assert [s.kernel for s in steps] == ["reduce"]
        exact = f(wide)
        last = 4 * LAST_BIT if op in ("SumSquare", "L2") else LAST_BIT
        cut = shape[1] ** 2 * 2.0**-45 * np.abs(wide).max(1) if op in ("Sum", "L1") else 0
        error = np.abs(got - exact.ravel())
        assert (error <= (np.abs(exact) * last * 1.01 + cut).ravel()).all(), (op, error.max())


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_products_are_rounded_one_by_one(target, axis):
    x = RNG.normal(0, 2, (30, 7, 5)).astype(np.float32)
    got, steps = outputs(target, reduction("Prod", x, [axis]), x)
    assert [s.kernel for s in steps] == ["cumulate", "move"]
    expected = np.cumprod(x, axis, np.float32).take(-1, axis)
    np.testing.assert_array_equal(got, expected.ravel())


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("power", [3, 4, 5])
def test_norms_of_higher_powers_are_exact(target, power):
    x = RNG.normal(0, 2, (2, 3, 8, 9)).astype(np.float32)
    model = model_of("GlobalLpPool", [x], p=power, out=(np.float32, (2, 3, 1, 1)))
    got, steps = outputs(target, model, x)
    assert len(steps) > 3
    exact = (np.abs(x.astype(np.float64)) ** power).sum((2, 3)) ** (1 / power)
    np.testing.assert_allclose(got, exact.ravel(), TOLERANCE)


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
@pytest.mark.parametrize("axis", [2, 3])
def test_interpolation_is_rounded_once(target, axis):
    """For twice the size, weights are three quarters and one quarter."""
    x = np.moveaxis(10.0 ** RNG.uniform(-9, 9, (1, 3, 20, 7)) * RNG.choice([-1, 1], 7), 2, axis)
    x = np.ascontiguousarray(x).astype(np.float32)
    got, steps = outputs(target, resize(x, axis), x)
    assert [s.kernel for s in steps] == ["resample"]
    wide = np.moveaxis(x.astype(np.float64), axis, 0)
    around = np.concatenate([wide[:1], wide, wide[-1:]])
    parts = np.stack([around[:-2] + 3 * wide, 3 * wide + around[2:]], 1) / 4
    exact = np.moveaxis(parts.reshape(-1, *wide.shape[1:]), 0, axis).ravel()
    largest = np.maximum(np.abs(around[:-2]), np.abs(around[2:]))
    largest = np.stack([np.maximum(largest, np.abs(wide))] * 2, 1).reshape(-1, *wide.shape[1:])
    cut = np.moveaxis(largest, 0, axis).ravel() * 2.0**-27
    assert (np.abs(got - exact) <= np.abs(exact) * LAST_BIT * 1.01 + cut).all()


def resize(x, axis):
    scales = np.ones(4, np.float32)
    scales[axis] = 2
    shape = [int(d * s) for d, s in zip(x.shape, scales, strict=True)]
    node = ("Resize", "x none scales", "y", {"mode": "linear"})
    none = np.array([], np.float32)
    values = [small.value("x", x.shape)], [small.value("y", shape)]
    return small.model([node], *values, 18, none=none, scales=scales)


def cumulated(op, x, axis, **attributes):
    node = (op, "x axis", "y", attributes)
    values = [small.value("x", x.shape)], [small.value("y", x.shape)]
    return small.model([node], *values, 26, axis=np.array(axis, np.int64))


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_running_sums_have_the_bits_of_numpy(target):
    x = RNG.normal(0, 3, (3, 50, 4)).astype(np.float32)
    for axis in range(3):
        for op, f in (("CumSum", np.cumsum), ("CumProd", np.cumprod)):
            got, steps = outputs(target, cumulated(op, x, axis), x)
            np.testing.assert_array_equal(got, f(x, axis, np.float32).ravel())
            got, _ = outputs(target, cumulated(op, x, axis, reverse=1), x)
            turned = np.flip(f(np.flip(x, axis), axis, np.float32), axis)
            np.testing.assert_array_equal(got, turned.ravel())
            got, _ = outputs(target, cumulated(op, x, axis, exclusive=1), x)
            first = np.full_like(x.take([0], axis), op == "CumProd")
            before = np.concatenate([first, f(x, axis, np.float32)], axis)
            np.testing.assert_array_equal(got, before.take(range(x.shape[axis]), axis).ravel())


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_logarithms_of_softmax_are_exact(ready_target, axis):
    x = RNG.normal(0, 20, (5, 9, 6)).astype(np.float32)
    got, steps = outputs(ready_target("unix32"), model_of("LogSoftmax", [x], axis=axis), x)
    assert "softmax" not in [s.kernel for s in steps]
    wide = x.astype(np.float64)
    exact = wide - np.log(np.exp(wide).sum(axis, keepdims=True))
    np.testing.assert_allclose(got, exact.ravel(), TOLERANCE, 1e-6)


def powers(x, exponent):
    values = [small.value("x", x.shape)], [small.value("y", x.shape)]
    return small.model([("Pow", "x e", "y", {})], *values, e=np.array(exponent, np.float32))


@pytest.mark.parametrize("exponent", [2, 3, 4, -1, -2, 0.5, 0.25, 0.75, 1.5, 2.25])
def test_simple_powers_need_no_logarithm(ready_target, exponent):
    special = [0.0, INF, NAN, 1e30, 1e-30]
    x = np.append(RNG.normal(0, 9, 500), special).astype(np.float32)
    got, steps = outputs(ready_target("unix32"), powers(x, exponent), x)
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64) ** exponent
        expected = exact.astype(np.float32)
    np.testing.assert_allclose(got, expected, TOLERANCE, 1e-45)


# As C's pow: also for exponents that are odd, even or not whole, and for what has no logarithm.
_WHOLE = [2.0**23 + 1, 2.0**24 - 1, 2.0**24, 2.0**25, 2.0**22 + 0.5]
_ODD_ONES = [0.0, 1, 2, 0.5, 3, 1.5, INF, 1e-45, 3e38, 1 - 2.0**-24, 1 + 2.0**-23, *_WHOLE]


def of_any_power():
    """Return x and y whose powers span the range of float32."""
    n = 1500
    near = np.abs(1 + RNG.normal(0, 1, n) * 10.0 ** RNG.uniform(-7, -1, n)).astype(np.float32)
    wide = (10.0 ** RNG.uniform(-45, 38, n)).astype(np.float32)
    bases = [np.where(near == 1, 2, near), wide]
    pairs = [(x, RNG.uniform(-150, 128, n) / np.log2(x.astype(np.float64))) for x in bases]
    pairs.append((np.abs(RNG.normal(0, 2, n)), RNG.normal(0, 2, n)))
    pairs.append((RNG.normal(0, 3, n), RNG.integers(-20, 20, n)))
    special = np.array([*_ODD_ONES, *[-v for v in _ODD_ONES], NAN], np.float32)
    pairs.append([v.ravel() for v in np.meshgrid(special, special)])
    return [np.concatenate(v).astype(np.float32) for v in zip(*pairs, strict=True)]


@pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
def test_powers_are_exact_for_any_exponent(target):
    x, y = of_any_power()
    got, steps = outputs(target, model_of("Pow", [x, y]), x, y)
    assert [s.kernel for s in steps] == ["power"]
    with np.errstate(all="ignore"):
        exact = x.astype(np.float64) ** y.astype(np.float64)
        np.testing.assert_allclose(got, exact.astype(np.float32), TOLERANCE, 1.5e-45)
    assert (np.signbit(got) == np.signbit(exact))[exact == exact].all()
    assert (got.view(np.uint32)[exact != exact] == 0x7FC00000).all()


@pytest.mark.parametrize("base", [True, False])
def test_base_or_exponent_may_be_one_number(ready_target, base):
    x = RNG.uniform(0.1, 5, (7, 30)).astype(np.float32)
    one = np.array(2.7, np.float32)
    model = model_of("Pow", [x], constants={0 if base else 1: one})
    got, steps = outputs(ready_target("unix32"), model, x)
    assert [s.kernel for s in steps] == ["power"]
    wide, one = x.astype(np.float64).ravel(), float(one)
    np.testing.assert_allclose(got, one**wide if base else wide**one, TOLERANCE)


def test_steps_allocate_nothing(ready_target):
    x = np.abs(RNG.normal(0, 3, (4, 6, 5))).astype(np.float32)
    models = [reduction(op, x, [1]) for op in (*SUMS, "Max", "Min", "LogSum")]
    models += [
        model_of(op, [x]) for op in ("Log", "Sin", "Floor", "Ceil", "Round", "Abs", "Neg", "Sign")
    ]
    models += [resize(x[None], 3), cumulated("CumSum", x, 1, reverse=1)]
    models += [model_of("LogSoftmax", [x], axis=1), powers(x, 0.5)]
    models += [model_of(op, [x]) for op in ("Tan", "Softsign", "ThresholdedRelu")]
    models += [model_of(op, [x / 20]) for op in ("Sinh", "Cosh", "Atan", "Asin", "Acos")]
    models += [powers(x, 1.7), powers(x, -3)]
    models += [model_of("Shrink", [x], bias=0.5), model_of("Hardmax", [x], axis=1)]
    for model in models:
        files = {"model.bin": small.binary(model), "x.bin": x.tobytes()}
        for name in ("unix", "unix32"):
            printed = small.run(ready_target(name), small.SCRIPTS / "allocation.py", files)
            assert printed.split()[:2] == ["0", "0"], (model.graph.node[0].op_type, printed[:40])


@pytest.mark.parametrize("name", ["Sin", "CumSum", "Resize", "L2", "Pow"])
def test_damaged_files_do_no_harm(ready_target, name):
    x = RNG.normal(0, 3, (2, 4, 5)).astype(np.float32)
    models = {"Sin": model_of("Sin", [x]), "CumSum": cumulated("CumSum", x, 1)}
    models |= {"Pow": model_of("Pow", [x, x])}
    models |= {"Resize": resize(x[None], 3), "L2": reduction("L2", x, [1])}
    report = small.damage(ready_target("unix32"), small.binary(models[name]), "words", "1")
    assert report.ok and report.refused > 100 and report.ran, report
