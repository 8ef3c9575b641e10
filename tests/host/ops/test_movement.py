"""Operators that only move elements, on MicroPython, against onnxruntime and numpy."""

import numpy as np
import pytest

from tests.host.ops.against_ort import Node, compare
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
RNG = np.random.default_rng(11)
X = RNG.standard_normal((2, 3, 4, 5)).astype(np.float32)
DTYPES = (np.uint8, np.int16, np.int32, np.int64, np.bool_, np.float64, np.float16)


def ints(*values):
    return np.array(values, np.int64)


def node(op, *inputs, opset=18, n_outputs=1, **attrs):
    """Return a node whose inputs but the first are constants."""
    fixed = tuple(i for i in range(1, len(inputs)) if inputs[i] is not None)
    return Node(op, list(inputs), attrs, opset, fixed, (inputs[0].dtype,) * n_outputs)


def same(target, cases):
    cases = [c for c in cases if target.float_bits == 64 or c.inputs[0].dtype != np.float64]
    compare(target, cases, rtol=0, atol=0)


@on_targets
def test_elements_of_every_size_are_moved(target):
    cases = []
    for dtype in DTYPES:
        x = (X * 50).astype(dtype)
        cases += [
            node("Transpose", x, perm=[2, 0, 3, 1]),
            node("Slice", x, ints(3, -1), ints(0, -99), ints(2, 3), ints(-1, -2)),
            node("Tile", x, ints(1, 2, 1, 3)),
            node("Gather", x, ints(2, -4, 2), axis=2),
            Node("Gather", [x, ints([-1, 0], [1, 2])], {"axis": 1}, 13, (), (dtype,)),
        ]
        if dtype != np.int16:  # onnxruntime has no Pad of these
            cases.append(node("Pad", x, ints(0, 1, 0, 2, 0, 0, 1, 1)))
    same(target, [c for c in cases if not (c.op == "Pad" and c.inputs[0].dtype == np.float16)])


@on_targets
def test_slice_agrees(target):
    cases = [
        node("Slice", X, opset=7, starts=[1, -3], ends=[99, -1], axes=[1, 3]),
        node("Slice", X, ints(1, 0), ints(2, 9), opset=10),
        node("Slice", X, ints(-1), ints(-(2**63)), ints(-1), ints(-2)),
        node("Slice", X, ints(-99), ints(-100), ints(3), ints(-1)),  # begins with the first item
        node("Slice", X, ints(-99, 4), ints(2**63 - 1, 1), ints(1, 3), ints(2, -1), opset=13),
    ]
    same(target, cases)


@on_targets
def test_split_and_concat_agree(target):
    cases = [
        node("Split", X, opset=7, n_outputs=3, axis=1),
        node("Split", X, opset=11, n_outputs=2, axis=-1, split=[1, 4]),
        node("Split", X, ints(1, 2, 1), opset=13, n_outputs=3, axis=2),
        node("Split", X, n_outputs=2, axis=3, num_outputs=2),
        Node("Concat", [X, X[:, :1], X[:, :2]], {"axis": 1}, 7),
        Node("Concat", [X[..., :2], X], {"axis": -1}, 13),
    ]
    same(target, cases)


@on_targets
def test_pad_agrees(target):
    both = ints(1, 0, 2, 3, 0, 2, 1, 2)
    cases = [
        node("Pad", X, both, None, None, opset=19, mode=mode)
        for mode in ("constant", "edge", "reflect", "wrap")
    ]
    cases += [
        node("Pad", X, opset=7, pads=[0, 1, 0, 0, 0, 0, 2, 0], value=2.5),
        node("Pad", X, opset=7, pads=[0, 1, 0, -1, 0, 0, 2, 3], mode="edge"),
        node("Pad", X, ints(0, -1, 0, 2, 0, 1, -2, -1), np.float32(7), opset=11),
        node("Pad", X, ints(1, 2, 0, 3), np.float32(-1), ints(-1, 1)),
        Node("Pad", [X, ints(1, 2, 0, 3), np.float32(-1), ints(-1, 1)], {}, 18, (1, 3)),
    ]
    same(target, cases)


@on_targets
def test_shape_and_block_operators_agree(target):
    x = RNG.standard_normal((2, 8, 4, 6)).astype(np.float32)
    cases = [
        node("Expand", X[:, :, :1], ints(2, 1, 1, 3, 4, 1), opset=8),
        node("DepthToSpace", x, opset=7, blocksize=2),
        node("DepthToSpace", x, opset=11, blocksize=2, mode="CRD"),
        node("SpaceToDepth", x, blocksize=2),
        node("Squeeze", X[:1, :, :1], opset=11, axes=[0, 2]),
        node("Squeeze", X[:1, :, :1], ints(-2), opset=13),
        node("Unsqueeze", X, opset=11, axes=[0, 3]),
        node("Unsqueeze", X, ints(-1, 0), opset=13),
        node("Flatten", X, axis=2, opset=9),
        node("Dropout", X, opset=10),
        node("Dropout", X, np.float32(0.5), np.bool_(False), opset=13),
        node("EyeLike", X[0, 0], opset=9, k=-1),
    ]
    same(target, cases)


@on_targets
def test_irregular_indices_move_many_pieces(target):
    order = RNG.integers(-4, 4, 40)
    cases = [
        node("Gather", X, order, axis=2),
        node("Gather", X, order.reshape(4, 10), axis=-1),
        node("Gather", X, np.int64(1), axis=1),
        node("Pad", X, ints(0, 2, 3, 4, 0, 2, 3, 4), opset=19, mode="reflect"),
        Node("Gather", [X, order.astype(np.int32)], {"axis": 3}, 11),
    ]
    same(target, cases)


@on_targets
def test_an_index_out_of_range_is_an_input_error(target):
    bad = [4, -5, 2**31, -(2**31) - 1, 2**32, 2**32 + 1, -(2**63)]
    model = Node("Gather", [X, ints(0, 0)], {"axis": 2}).model([(2, 3, 2, 5)])
    job = Job(
        convert(model, Options(strip=True)).data,
        [[X.tobytes(), ints(1, i).tobytes()] for i in [-4]],
    )
    assert run_jobs(target, [job])[0].error == ""
    jobs = [Job(job.model, [[X.tobytes(), ints(1, i).tobytes()]]) for i in bad]
    outcomes = run_jobs(target, jobs)
    assert [o.error for o in outcomes] == ["InputError"] * len(bad)
    assert "gather" in outcomes[0].message and "-4 .. 3" in outcomes[0].message


@on_targets
def test_gather_and_scatter_elements_agree(target):
    index = RNG.integers(-4, 4, (2, 2, 6, 5))
    cases = [
        Node("GatherElements", [X, index], {"axis": 2}, 11),
        Node(
            "GatherElements",
            [(X * 9).astype(np.int8), index.astype(np.int32)],
            {"axis": -2},
            13,
            (),
            (np.int8,),
        ),
        Node("GatherND", [X, ints([0, -1, 2], [1, 0, -4])], {}, 11),
        Node("GatherND", [X, RNG.integers(-4, 4, (2, 3, 2, 1))], {"batch_dims": 2}, 12),
        Node("ScatterND", [X, ints([1, 2], [0, -1]), X[0, :2]], {}, 11),
        Node("Scatter", [X, index[:, :, :4] * 0 + 1, X[:, :2] * 2], {"axis": 2}, 9),
    ]
    for reduction in ("none", "add", "mul", "max", "min"):
        opset = 18 if reduction in ("max", "min") else 16
        repeated = ints([[1], [1]], [[0], [1]])
        if reduction == "none":  # in which order equal indices are written is not said
            repeated = ints([[1], [0]])
        updates = RNG.standard_normal((*repeated.shape[:-1], *X.shape[1:])).astype(np.float32)
        attrs = {"reduction": reduction}
        cases.append(Node("ScatterND", [X, repeated, updates], attrs, opset))
        unique = np.argsort(RNG.random((2, 3, 2, 4)), axis=-1)[..., :3]
        cases.append(
            Node("ScatterElements", [X, unique, X[:, :, :2, :3] * 3], attrs | {"axis": -1}, opset)
        )
    compare(target, cases)


@on_targets
def test_one_hot_trilu_and_max_unpool_agree(target):
    off_on = np.array([2, 5], np.float32)
    index = ints([1, -1, 7], [0, -9, 3])
    cases = [
        Node("OneHot", [index, np.int64(4), off_on], {"axis": a}, 11, (1,)) for a in (-1, 0, 1)
    ]
    cases.append(
        Node(
            "OneHot",
            [index.astype(np.float32), np.int64(4), off_on.astype(np.int64)],
            {},
            9,
            (1,),
            (np.int64,),
        )
    )
    cases += [node("Trilu", X, opset=14), node("Trilu", X, np.int64(-1), opset=14, upper=0)]
    pooled = np.array([[[[1, 2], [3, 4]]]], np.float32)
    where = ints([[[5, 7], [13, 15]]])
    cases.append(
        Node("MaxUnpool", [pooled, where], {"kernel_shape": [2, 2], "strides": [2, 2]}, 11)
    )
    same(target, cases)


@on_targets
def test_scattered_integers_wrap_around(target):
    data, index = np.array([[2**31 - 1, -5]], np.int32), ints([[0, 0], [0, 1]])
    case = Node(
        "ScatterND",
        [data, index, np.array([3, 7], np.int32)],
        {"reduction": "add"},
        16,
        (),
        (np.int32,),
    )
    compare(target, [case], [[np.array([[-(2**31) + 2, 2]], np.int32)]])
