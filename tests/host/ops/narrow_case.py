"""Dtypes of 16 bits and fewer: all their elements, and comparisons that distinguish -0 from 0."""

import ml_dtypes
import numpy as np

from tools.harness import run_jobs

FLOATS = {
    "float16": np.float16,
    "bfloat16": ml_dtypes.bfloat16,
    "float8e4m3fn": ml_dtypes.float8_e4m3fn,
    "float8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "float8e5m2": ml_dtypes.float8_e5m2,
    "float8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "float8e8m0": ml_dtypes.float8_e8m0fnu,
    "float6e2m3": ml_dtypes.float6_e2m3fn,
    "float6e3m2": ml_dtypes.float6_e3m2fn,
    "float4e2m1": ml_dtypes.float4_e2m1fn,
}
INTS = {
    "int4": ml_dtypes.int4,
    "uint4": ml_dtypes.uint4,
    "int2": ml_dtypes.int2,
    "uint2": ml_dtypes.uint2,
}
FLOAT8 = [name for name in FLOATS if name.startswith("float8")]
OPSET = 28  # the first that knows them all


def patterns(name):
    """Return every element that the dtype has."""
    if name in INTS:
        info = ml_dtypes.iinfo(INTS[name])
        return np.arange(info.min, info.max + 1).astype(INTS[name])
    bits = ml_dtypes.finfo(FLOATS[name]).bits
    return np.arange(1 << bits).astype(np.uint16 if bits == 16 else np.uint8).view(FLOATS[name])


def finite(name):
    """Return the finite elements of the dtype in order, as float64."""
    values = as_doubles(patterns(name))
    return np.unique(values[np.isfinite(values)])


def as_doubles(x):
    """Return x.astype(np.float64) without its warning of NaN."""
    with np.errstate(invalid="ignore"):
        return x.astype(np.float64)


def check_exactly(target, cases):
    """Compare cases as single_node.check does, but tell -0 from 0."""
    cases = [case for case in cases if case.fits(target)]
    for case, outcome in zip(cases, run_jobs(target, [c.job for c in cases]), strict=True):
        assert not outcome.error, (case.label, outcome.message)
        got = as_doubles(np.frombuffer(outcome.runs[0].outputs[0], case.expected.dtype))
        want = as_doubles(case.expected).ravel()
        np.testing.assert_array_equal(got, want, err_msg=case.label)
        numbers = ~np.isnan(want)
        same = np.signbit(got) == np.signbit(want)
        assert same[numbers].all(), (case.label, got[~same & numbers], want[~same & numbers])
