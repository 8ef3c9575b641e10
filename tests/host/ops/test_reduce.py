"""Reductions, softmax and running sums on MicroPython, against onnxruntime and numpy."""

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare, run
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RNG = np.random.default_rng(7)
X = RNG.standard_normal((2, 3, 1, 4, 5)).astype(np.float32)
OPS = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]
INF, NAN = np.inf, np.nan


def reduce(op, axes=None, opset=18, x=X, **attrs):
    """Return a Reduce node with axes as its opset takes them."""
    x = np.abs(x) if op == "LogSum" else x
    if opset >= (13 if op == "Sum" else 18):
        inputs, fixed = ([x], ()) if axes is None else ([x, np.array(axes, np.int64)], (1,))
    else:
        inputs, fixed = [x], ()
        attrs |= {} if axes is None else {"axes": axes}
    return Node("Reduce" + op, inputs, attrs, opset, fixed, (x.dtype,))


@on_targets
def test_every_reduction_agrees_with_onnxruntime(target):
    cases = []
    for op in OPS:
        cases += [reduce(op), reduce(op, [1, -1]), reduce(op, [3], keepdims=0)]
        cases += [reduce(op, [0, 1], 11), reduce(op, [2, 3], 13, keepdims=0)]
        cases += [reduce(op, [2]), reduce(op, noop_with_empty_axes=1)]
    compare(target, cases)


@on_targets
def test_reductions_of_integers_agree(target):
    x = RNG.integers(-40, 40, (3, 4, 5)).astype(np.int32)
    cases = [
        reduce(op, [1], x=x) for op in ("Sum", "Max", "Min", "Prod", "SumSquare", "L1", "Mean")
    ]
    wide = x.astype(np.int64) << 33
    cases += [reduce(op, [0, 2], x=wide) for op in ("Sum", "Max", "Min")]
    cases += [reduce("Prod", [0, 2], x=wide >> 35)]
    cases += [reduce(op, [1], x=x.astype(np.int8)) for op in ("Max", "Min")]
    cases += [reduce("Max", [1], x=(x + 40).astype(np.uint8))]
    cases += [Node("ReduceMax", [x > 0, np.array([1])], {}, 20, (1,), (np.bool_,))]
    compare(target, cases)


@on_targets
def test_reductions_of_bytes_agree(target):
    """There are few different values, so that several are often the greatest."""
    nodes = []
    for dtype in (np.uint8, np.int8):
        limits = np.iinfo(dtype)
        few = RNG.integers(0, 3, (3, 4, 5)) * 127 + limits.min
        for x in (few.astype(dtype), RNG.integers(limits.min, limits.max, (2, 9, 7), dtype, True)):
            nodes += [reduce("Max", axes, x=x) for axes in ([0], [1], [2], [0, 1], [0, 2], None)]
            for op in ("ArgMax", "ArgMin"):
                for axis, last in ((0, 0), (1, 1), (2, 0), (2, 1)):
                    attrs = {"axis": axis, "select_last_index": last, "keepdims": axis & 1}
                    nodes.append(Node(op, [x], attrs, 13, (), (np.int64,)))
    compare(target, nodes)


@on_targets
def test_integers_wrap_around(target):
    big = np.array([[2**31 - 1, 5], [-(2**31), -7]], np.int32)
    wide = np.array([[2**63 - 1, 2**62], [-(2**63), -3]], np.int64)
    nodes = [reduce(op, [1], x=x) for op in ("Sum", "Prod") for x in (big, wide)]
    nodes.append(reduce("L2", [1], x=wide[:, 1:]))
    with np.errstate(over="ignore"):
        totals = [
            f(x, axis=1, keepdims=True, dtype=x.dtype)
            for f in (np.sum, np.prod)
            for x in (big, wide)
        ]
    totals.append(np.array([[2**62], [3]]))  # a square of 125 bits on the way
    compare(target, nodes, [[t] for t in totals])


@on_targets
def test_reductions_of_special_floats_agree(target):
    rows = [
        [1, INF, 2],
        [INF, -INF, 0],
        [-INF, -INF, -INF],
        [NAN, INF, 1],
        [1, NAN, -INF],
        [3e38] * 3,
    ]
    x = np.array(rows, np.float32)
    with np.errstate(all="ignore"):
        expected = {
            "Sum": x.sum(1),
            "Max": x.max(1),
            "Min": x.min(1),
            "L2": np.sqrt((x * x).sum(1)),
            "LogSum": np.log(np.abs(x).sum(1)),
            "LogSumExp": [INF, INF, -INF, NAN, NAN, 3e38],
        }
    nodes = [reduce(op, [1], x=x, keepdims=0) for op in expected]
    compare(target, nodes, [[np.array(y, np.float32)] for y in expected.values()])


@on_targets
def test_a_long_sum_keeps_its_digits(target):
    x = (RNG.random((1, 60000)) + 0.5).astype(np.float32)
    nodes = [reduce("Sum", [1], x=x), reduce("Mean", [1], x=x), reduce("LogSumExp", [1], x=x)]
    wide = x.astype(np.float64)
    expected = [wide.sum(), wide.mean(), np.log(np.exp(wide).sum())]
    compare(target, nodes, [[np.float32([[y]])] for y in expected], rtol=3e-7, atol=0)


@on_targets
def test_arg_max_agrees(target):
    x = RNG.integers(0, 4, (3, 5, 4)).astype(np.float32)  # with many equal ones
    cases = [
        Node(
            op,
            [x.astype(d)],
            {"axis": a, "keepdims": k, "select_last_index": s},
            13,
            dtypes=(np.int64,),
        )
        for op in ("ArgMax", "ArgMin")
        for d, a, k, s in (
            (np.float32, 1, 1, 0),
            (np.float32, -1, 0, 1),
            (np.int8, 0, 1, 1),
            (np.int32, 1, 0, 0),
        )
    ]
    compare(target, cases)


@on_targets
def test_softmax_agrees(target):
    x = 30 * X.reshape(2, 3, 20)
    cases = [
        Node(op, [x], {"axis": a} if a is not None else {}, opset)
        for op in ("Softmax", "LogSoftmax", "Hardmax")
        for a, opset in ((None, 7), (2, 11), (None, 13), (0, 13), (-2, 17))
    ]
    compare(target, cases)


@on_targets
def test_softmax_of_special_values_agrees(target):
    x = np.array(
        [[1e38, -3e38, 0], [-INF, 0, -INF], [-INF, -INF, -INF], [INF, 0, 1], [NAN, 0, 1]],
        np.float32,
    )
    with np.errstate(all="ignore"):
        e = np.exp(x - x.max(1, keepdims=True))
        soft = e / e.sum(1, keepdims=True)
        log = x - x.max(1, keepdims=True) - np.log(e.sum(1, keepdims=True))
    compare(target, [Node("Softmax", [x]), Node("LogSoftmax", [x])], [[soft], [log]])


@on_targets
def test_running_sums_agree(target):
    cases = []
    for exclusive in (0, 1):
        for dtype in (np.float32, np.int32, np.int64):
            x = (X.reshape(4, 5, 6) * 9).astype(dtype)
            attrs = {"exclusive": exclusive, "reverse": int(dtype != np.int32)}
            cases.append(Node("CumSum", [x, np.array(-2)], attrs, 14, (1,), (dtype,)))
    compare(target, cases)


@on_targets
def test_global_pools_agree(target):
    x = X.reshape(2, 3, 4, 5)
    cases = [Node(f"Global{kind}Pool", [x]) for kind in ("Average", "Max", "Lp")]
    cases.append(Node("GlobalLpPool", [x], {"p": 3}))
    compare(target, cases)


@on_targets
def test_an_empty_set_gives_the_identity(target):
    x = np.zeros((2, 0, 3), np.float32)
    identities = {
        "Sum": 0,
        "Max": -INF,
        "Min": INF,
        "Prod": 1,
        "L1": 0,
        "LogSum": -INF,
        "LogSumExp": -INF,
    }
    nodes = [reduce(op, [1], x=x) for op in identities]
    expected = [[np.full((2, 1, 3), v, np.float32)] for v in identities.values()]
    for got, want in zip(run(target, nodes, expected), expected, strict=True):
        np.testing.assert_array_equal(got[0], want[0])
