"""Cast from and to floats and integers of 16 bits and fewer, against onnx and ml_dtypes."""

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference.ops.op_cast import cast_to

from tests.host.ops.narrow_case import (
    FLOAT8,
    FLOATS,
    INTS,
    OPSET,
    as_doubles,
    check_exactly,
    finite,
    patterns,
)
from tests.host.ops.single_node import INF, NAN, Case, on_targets

ROUNDED = [name for name in FLOATS if name != "float8e8m0"]


def number(dtype):
    return helper.np_dtype_to_tensor_dtype(np.dtype(dtype))


def cast(x, dtype, expected=None, **attrs):
    """Return a case of Cast; by default onnx's own conversion is expected."""
    to = number(dtype)
    if expected is None:
        with np.errstate(all="ignore"):
            known = x if x.dtype.kind in "iuf" else x.astype(np.float32)  # without loss
            expected = cast_to(known, to, attrs.get("saturate", 1), attrs.get("round_mode", "up"))
    return Case(expected, "Cast", x, to=to, opset=OPSET, **attrs)


def around_ties(name):
    """Return float32 values: those of the dtype, the ties between them, and their neighbours."""
    values = finite(name)
    if len(values) > 512:
        values = np.concatenate([values[:64], values[-64:], values[len(values) // 2 :][:2200:8]])
    ties = (values[:-1] + values[1:]) / 2
    beyond = 2 * values[-1] - ties[-1]  # where the next number would begin
    exact = np.concatenate([values, ties, [beyond, -beyond, 2 * beyond, -2 * beyond]])
    with np.errstate(over="ignore"):
        x = exact.astype(np.float32)
    specials = np.array([0.0, -0.0, INF, -INF, NAN, 1e-45, -1e-45, 3e38, -3e38], np.float32)
    up, down = np.nextafter(x, np.float32(INF)), np.nextafter(x, np.float32(-INF))
    return np.concatenate([x, up, down, specials])


@on_targets
def test_every_bit_pattern_has_its_value(target):
    cases = []
    for name in FLOATS:
        cases.append(cast(patterns(name), np.float32))
    for name in INTS:
        x = patterns(name)
        cases += [cast(x, dtype) for dtype in (np.float32, np.float16, np.int8, np.int64, bool)]
    check_exactly(target, cases)


@on_targets
def test_ties_are_rounded_and_large_values_saturate(target):
    cases = []
    for name in ROUNDED:
        x = around_ties(name)
        for saturate in (1, 0) if name in FLOAT8 else (1,):
            cases.append(cast(x, FLOATS[name], saturate=saturate))
    check_exactly(target, cases)


@on_targets
def test_narrow_dtypes_are_cast_to_each_other(target):
    cases = []
    for source in FLOATS:
        x = patterns(source)
        x = x[:: len(x) // 128] if len(x) > 256 else x
        for expected in FLOATS:
            if expected in (source, "float8e8m0"):
                continue
            # without a NaN of its own, what becomes of a negative one is nobody's rule
            has_nan = expected not in ("float6e2m3", "float6e3m2", "float4e2m1")
            values = x if has_nan else x[~np.isnan(as_doubles(x))]
            cases.append(cast(values, FLOATS[expected], saturate=0))
    for source in INTS:
        for expected in [*FLOATS, *INTS]:
            if expected not in (source, "float8e8m0"):
                dtype = FLOATS.get(expected) or INTS[expected]
                cases.append(cast(patterns(source), dtype))
    check_exactly(target, cases)


@on_targets
def test_integers_and_doubles_are_rounded_once(target):
    cases = []
    doubles = np.array([1.0625, -17.5, 1e300, -1e-300, 0.0, -0.0, 60000, INF, NAN])
    for name in ROUNDED:
        dtype = FLOATS[name]
        cases.append(cast(np.arange(-128, 128).astype(np.int8), dtype))
        cases.append(cast(np.array([True, False]), dtype))
        wide = np.array([0, 1, -1, 25, 449, 464, 465, -57345, 61439, 61440, 1 << 30])
        cases += [cast(wide.astype(kind), dtype) for kind in (np.int32, np.int64)]
        cases.append(cast(doubles, dtype))
    # once, not by way of float32: just above the middle between 1 and 1.125
    x = np.array([1.06250000001, -1.06250000001])
    cases.append(
        cast(x, FLOATS["float8e4m3fn"], np.array([1.125, -1.125]).astype(FLOATS["float8e4m3fn"]))
    )
    check_exactly(target, cases)


@on_targets
def test_long_integers_become_float32_first(target):
    """The values are ties between two bfloat16, rounded by way of float32 and float64."""
    exponents = range(24, 63)
    apart = [0, 1, -1, *(s * (1 << e) for e in (20, 36, 38) for s in (1, -1))]
    middles = [m << e - 8 for e in exponents for m in (257, 259, 511)]
    near = [m + (m >> 25) + 1 for m in middles] + [m - (m >> 25) - 1 for m in middles]
    results = [m + d for m in middles for d in apart] + near
    results += [-x for x in results]
    cases = []
    for kind in (np.int32, np.uint32, np.int64, np.uint64):
        info = np.iinfo(kind)
        x = np.array([x for x in results if info.min <= x <= info.max], kind)
        cases.append(cast(x, FLOATS["bfloat16"]))
    check_exactly(target, cases)


@pytest.mark.slow
@on_targets
def test_floats_are_truncated_to_the_low_bits_of_integers(target):
    """They are truncated to their low bits."""
    cases = []
    for source in FLOATS:
        x = patterns(source)
        x = x[:: len(x) // 128] if len(x) > 256 else x
        wide = as_doubles(x)
        x = x[np.isfinite(wide) & (np.abs(wide) < 2**30)]
        whole = np.trunc(x.astype(np.float64)).astype(np.int64)
        for dtype in (np.int8, np.uint16, np.int32, np.int64, *INTS.values()):
            cases.append(cast(x, dtype, low_bits(whole, dtype)))
        cases.append(cast(patterns(source), bool, as_doubles(patterns(source)) != 0))
    wide = np.arange(-300, 300)
    for dtype in INTS.values():
        cases += [
            cast(wide.astype(kind), dtype, low_bits(wide.astype(kind), dtype))
            for kind in (np.int8, np.uint8, np.int16, np.int64, np.float32)
        ]
    check_exactly(target, cases)


def low_bits(whole, dtype):
    """Return integers modulo 2**bits of the dtype."""
    info = ml_dtypes.iinfo(dtype)
    low, n = int(info.min), int(info.max) - int(info.min) + 1
    return np.array([(int(v) - low) % n + low for v in whole]).astype(dtype)


@on_targets
@pytest.mark.parametrize("mode", ["up", "down", "nearest"])
def test_floats_are_rounded_to_powers_of_two(target, mode):
    """float8e8m0: normal numbers are rounded as by onnx, others by its table."""
    powers = np.ldexp(np.float32(1), np.arange(-126, 127)).astype(np.float32)
    steps = np.array([1, 1 + 2**-23, 1.25, 1.5 - 2**-23, 1.5, 1.75, 2 - 2**-23], np.float32)
    x = np.multiply.outer(powers, steps).ravel()
    e8m0 = FLOATS["float8e8m0"]
    least, most = np.float32(2.0**-127), np.float32(2.0**127)
    special = np.array([0, NAN, INF, 3.4e38, 1e-45, least, most, 1.5 * least, 2], np.float32)
    beyond = most if mode == "down" else NAN
    above = {"up": 2 * least, "down": least, "nearest": 2 * least}[mode]
    cases = [cast(x, e8m0, saturate=s, round_mode=mode) for s in (0, 1)]
    for saturate, want in (
        (1, [least, NAN, most, most, least, least, most, above, 2]),
        (0, [NAN, NAN, NAN, beyond, NAN, least, most, above, 2]),
    ):
        want = np.array(want, np.float32).astype(e8m0)
        cases.append(cast(special, e8m0, want, saturate=saturate, round_mode=mode))
    cases.append(cast(x.astype(ml_dtypes.bfloat16), e8m0, round_mode=mode))
    check_exactly(target, cases)


@on_targets
def test_cast_like_keeps_saturate(target):
    x = np.array([1e6, -1e6, 500, 1], np.float32)
    like = np.zeros(1, FLOATS["float8e4m3fn"])
    cases = [
        Case(cast_to(x, TensorProto.FLOAT8E4M3FN, s), "CastLike", x, like, saturate=s, opset=OPSET)
        for s in (0, 1)
    ]
    check_exactly(target, cases)
