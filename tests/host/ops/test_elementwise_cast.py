"""Cast between all dtypes, bit for bit: ties, denormals, overflow and carries of narrow floats."""

import ml_dtypes
import numpy as np
import onnx
from onnx import helper

from tests.host.ops.single_node import INF, INTS, NAN, Case, check, on_targets

NUMBERS = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, *INTS, np.bool_]


def cast_inputs(source):
    if np.dtype(source) == bool:
        return np.array([True, False])
    if np.dtype(source).kind in "iu":
        info = np.iinfo(source)
        return np.array([info.min, 0, 1, 100, 127, info.max], source)
    # ties, denormals, overflow and carries of the narrow floats
    values = [0, -0.0, 1, -1, 0.1, 1.9, -2.7, 100, 2049, 2051, 4098, 65504, 65519, 65520, 6e-8]
    values += [2.98e-8, 2.99e-8, 6.1e-5, 1e-40, 257, 258, 259, 3.4e38, 1 + 2**-11, 1 + 3 * 2**-11]
    with np.errstate(all="ignore"):
        return np.array([*values, INF, -INF, NAN], np.float32).astype(source)


@on_targets
def test_cast_between_all_dtypes_agrees_with_numpy(target):
    cases = []
    for source in NUMBERS:
        for dtype in NUMBERS:
            if source == dtype:
                continue
            x = cast_inputs(source)
            to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            if x.dtype.kind not in "iub" and np.dtype(dtype).kind in "iu":
                wide = x.astype(np.float64)
                x = x[
                    (np.abs(wide) < 2**31) & (wide > -1 if np.dtype(dtype).kind == "u" else True)
                ]
                expected = np.trunc(x.astype(np.float64)).astype(np.int64).astype(dtype)
            else:
                with np.errstate(all="ignore"):
                    expected = x.astype(dtype)
            # what no single float holds is rounded twice where floats are single
            rtol = 2e-7 if x.dtype.itemsize == 8 else 0
            cases.append(Case(expected, "Cast", x, to=to, rtol=rtol))
    x = cast_inputs(np.float32)[:9]
    like = np.zeros((2, 1), np.int16)
    cases.append(Case(x.astype(np.int16), "CastLike", x, like))
    check(target, cases)


@on_targets
def test_every_float16_is_cast(target):
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    halves = halves[~np.isnan(halves)]
    x = halves.astype(np.float32)
    near = (x.view(np.int32)[:, None] + np.array([0, 4095, 4096, 4097])).view(np.float32).ravel()
    near = near[~np.isnan(near)]
    with np.errstate(all="ignore"):
        narrow = near.astype(np.float16)
    half, single = onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT
    check(target, [Case(x, "Cast", halves, to=single), Case(narrow, "Cast", near, to=half)])


@on_targets
def test_integers_of_all_sizes_are_cast(target):
    """Integers have each number of bits, with all cases of rounding to a float's 24 bits."""
    rng = np.random.default_rng(4)
    cases = []
    for source in INTS:
        bits = np.dtype(source).itemsize * 8
        of = rng.integers(0, 1 << 63, 40 * bits, np.uint64, endpoint=True)
        of >>= np.repeat(np.arange(64 - bits, 64), 40).astype(np.uint64)
        ties = [
            (1 << n) + (odd << n - 24) + more
            for n in range(24, bits - 1)
            for odd in (1, 3)
            for more in (-1, 0, 1)
        ]
        x = np.array([*of.tolist(), *ties], np.uint64).astype(source)
        if np.dtype(source).kind == "i":
            x[::2] *= -1
        cases.append(Case(x.astype(np.float32), "Cast", x, to=onnx.TensorProto.FLOAT))
    check(target, cases)


@on_targets
def test_cast_of_floats_beyond_integers_does_not_raise(target):
    x = np.array([INF, -INF, NAN], np.float32)
    check(target, [Case(np.zeros(3, np.int32), "Cast", x, to=onnx.TensorProto.INT32)])
