"""Cast between strings and numbers gives the nearest number, and the shortest text."""

from decimal import Decimal

import numpy as np
import pytest
from onnx import TensorProto, helper

from tests.host.ops.against_ort import Node, compare, run
from tools.micropython import UNIX_TARGETS

every_target = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
DECIMALS = [
    *("0", "-0", "1", "3.14", "1000", "1e-5", "1E8", "+2.50", ".5", "5.", "-1.5e+3", "  7 "),
    *("16777217", "16777219", "33554434.99999", "1e-45", "7e-46", "8e-46", "3.4028235e38"),
    *("3.4028236e38", "1e39", "-1e99999999999", "1e-99999999999", "0.1", "123456789012345678901"),
    *("INF", "+inf", "-INF", "NaN", "nan", "1.17549435e-38", "1.1754942e-38"),
]


def cast(x, dtype, opset=20):
    number = (
        TensorProto.STRING if dtype is object else helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    )
    return Node("Cast", [x], {"to": int(number)}, opset=opset, dtypes=(dtype,))


def bits(x):
    return x.view(f"u{x.itemsize}") if x.dtype.kind == "f" else x


def check_exactly(target, nodes, expected):
    for node, [got], want in zip(
        nodes, run(target, nodes, [[e] for e in expected]), expected, strict=True
    ):
        same = (bits(got) == bits(want)) | (np.isnan(want) & np.isnan(got))
        assert same.all(), (str(node), node.inputs[0][~same], got[~same], want[~same])


def random_floats(dtype, n):
    rng = np.random.default_rng(5)
    size = np.dtype(dtype).itemsize
    x = rng.integers(0, 1 << 63, n, np.uint64).astype(f"u{size}").view(dtype)
    x = np.concatenate([x, rng.standard_normal(n).astype(dtype), 2.0 ** np.arange(-40, 40)])
    return x[np.isfinite(x)].astype(dtype)


@every_target
def test_strings_become_floats(target):
    x = np.array(DECIMALS, object)
    random = np.array(
        [f"{v:.{i % 12}e}" for i, v in enumerate(random_floats(np.float32, 150))], object
    )
    dtypes = [np.float32] if target.float_bits == 32 else [np.float32, np.float64]
    nodes = [cast(v, dtype) for dtype in dtypes for v in (x, random)]
    with np.errstate(over="ignore"):
        # numpy's float32 of a text rounds once, that of a double twice
        expected = [np.array(n.inputs[0].tolist()).astype(n.dtypes[0]) for n in nodes]
    check_exactly(target, nodes, expected)


@every_target
def test_strings_become_integers(target):
    values = ["0", "-1", "+12", "100", " 99 ", "1e2", "2.0"]
    x = np.array(values, object)
    wide = np.array(["9223372036854775807", "-9223372036854775808", "9007199254740993"], object)
    nodes = [cast(x, np.int32), cast(x, np.int64), cast(x[2:], np.uint8), cast(wide, np.int64)]
    expected = [[int(float(s)) for s in values]] * 2 + [
        [12, 100, 99, 100, 2],
        list(map(int, wide)),
    ]
    expected = [np.array(v, n.dtypes[0]) for v, n in zip(expected, nodes, strict=True)]
    check_exactly(target, nodes, expected)


@pytest.mark.parametrize("text", ["Hello", "", "1e", "--1", "1_0", "0x10", "300", "-1", "nan"])
def test_strings_without_a_number_are_refused_at_run_time(target, text):
    node = cast(np.array([text], object), np.uint8)
    with pytest.raises(AssertionError, match="InputError"):
        run(target, [node], [[np.zeros(1, np.uint8)]])


@every_target
def test_floats_become_strings(target):
    """The digits are numpy's; its notation depends on its version."""
    dtypes = [np.float32] if target.float_bits == 32 else [np.float32, np.float64]
    arrays = [random_floats(d, 100) for d in dtypes]
    nodes = [cast(x, object) for x in arrays]
    for x, [got] in zip(arrays, run(target, nodes, [[x] for x in arrays]), strict=True):
        assert [Decimal(s) for s in got] == [Decimal(str(v)) for v in x]


@every_target
def test_floats_have_pythons_notation(target):
    x = [0.0, -0.0, 1, -1, 0.1, 1e-5, 1e-4, 123456, 1.5e15, 1e16, 2.5e22, np.nan, np.inf, -np.inf]
    expected = np.array([repr(float(v)) for v in x], object)
    compare(target, [cast(np.array(x, np.float32), object)], [[expected]])


@every_target
def test_integers_become_strings(target):
    arrays = [
        np.array([0, -1, np.iinfo(np.int64).min, np.iinfo(np.int64).max]),
        np.array([0, 255], np.uint8),
        np.array([-128, 127], np.int8),
        np.array([1 << 31, 1], np.uint32),
        np.array([True, False]),
    ]
    compare(
        target, [cast(x, object) for x in arrays], [[x.astype(str).astype(object)] for x in arrays]
    )


def test_narrow_floats_go_through_float32(target):
    x = np.array(["0.1", "65504", "-2.5"], object)
    half = x.astype(np.float16)
    expected = [[half], [np.array([str(v) for v in half.astype(np.float32)], object)]]
    compare(target, [cast(x, np.float16), cast(half, object)], expected)
