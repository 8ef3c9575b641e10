"""Operators that gather and scatter rows by tuples of indices, against numpy."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.single_node import Case, check, model_of, on_targets
from tools.converter.convert import Options, convert
from tools.harness import Job, run_jobs

rng = np.random.default_rng(4)
DTYPES = (np.float32, np.int8, np.int16, np.int64, np.bool_)


def data(dtype, *shape):
    return rng.integers(-99, 99, shape).astype(dtype)


def indices(kind, size, shape):
    return rng.integers(-size, size, shape).astype(kind)


@on_targets
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_elements_are_gathered_along_an_axis(target, kind):
    cases = []
    for dtype in DTYPES:
        x = data(dtype, 3, 4, 5, 2)
        for axis, shape in ((0, (7, 4, 5, 2)), (1, (3, 9, 2, 2)), (3, (2, 4, 1, 6))):
            index = indices(kind, x.shape[axis], shape)
            within = x[tuple(slice(d) if a != axis else slice(None) for a, d in enumerate(shape))]
            picked = np.take_along_axis(within, index, axis)
            cases.append(Case(picked, "GatherElements", x, index, axis=axis))
    check(target, cases)


@on_targets
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_elements_are_scattered_along_an_axis(target, kind):
    cases = []
    for dtype in DTYPES:
        x, axis = data(dtype, 3, 8, 5), 1
        index = rng.permuted(np.tile(np.arange(-4, 4)[:, None], (3, 1, 4)), axis=1)[:2, :6]
        values, expected = data(dtype, *index.shape), x.copy()
        part = expected[:2, :, :4]
        np.put_along_axis(part, index, values, axis)
        index = index.astype(kind)
        cases.append(Case(expected, "ScatterElements", x, index, values, axis=axis))
    check(target, cases)


@on_targets
def test_rows_are_gathered_and_scattered(target):
    cases = []
    for dtype in DTYPES:
        x = data(dtype, 4, 3, 5)
        index = np.stack([indices(np.int64, 4, (3, 7)), indices(np.int64, 3, (3, 7))], -1)
        cases.append(Case(x[index[..., 0], index[..., 1]], "GatherND", x, index))
        index = np.array([[2], [-4], [3]])
        values, expected = data(dtype, 3, 3, 5), x.copy()
        expected[index[:, 0]] = values
        cases.append(Case(expected, "ScatterND", x, index, values))
        index = indices(np.int64, 5, (4, 3, 2, 1))
        picked = np.take_along_axis(x, index[..., 0], 2)
        cases.append(Case(picked, "GatherND", x, index, batch_dims=2))
    check(target, cases)


@on_targets
@pytest.mark.parametrize("bad", [-6, 5, 1 << 31, 1 << 32, -(1 << 31), -(1 << 32) + 1, -(1 << 63)])
def test_an_index_out_of_range_is_refused(target, bad):
    x, jobs = data(np.float32, 5, 3), []
    for at in (0, 4):
        index = np.zeros((5, 1), np.int64)
        index[at] = bad
        cases = [("GatherElements", (x, index), (5, 1))]
        cases += [("GatherND", (x, index), (5, 3)), ("ScatterND", (x, index, x), (5, 3))]
        for op, inputs, shape in cases:
            model = model_of(op, inputs, out=(np.float32, shape))
            file = convert(model, Options(strip=True)).data
            jobs.append(Job(file, [[v.tobytes() for v in inputs]]))
    for outcome in run_jobs(target, jobs):
        assert outcome.error == "InputError" and "an index is out of range" in outcome.message


AGAIN = """
import mpconnxr
model = mpconnxr.load("model.bin")
x, good, bad, values = [open(name, "rb").read() for name in ("x", "good", "bad", "values")]
given = [x, bad, values][:len(model.inputs)]
for _ in range(2):
    try:
        model.run(given)
        print("ran")
    except mpconnxr.InputError as e:
        print(str(e).split(": ")[1])
    given[1] = good
    print(bytes(model.run(given)[0].view("B")).hex())
    given[1] = bad
"""


@on_targets
def test_the_run_after_a_refused_one_is_right(target):
    x, good = data(np.float32, 5, 3), np.array([[4], [0], [1], [3], [2]])
    bad = np.where(good == 1, 5, good)
    for op, expected, shape, is_flat in (
        ("Gather", x[good[:, 0]], (5, 3), True),
        ("GatherND", x[good[:, 0]], (5, 3), False),
        ("GatherElements", x[good[:, 0], :1], (5, 1), False),
        ("ScatterND", x[np.argsort(good[:, 0])], (5, 3), False),
    ):
        picks = (good[:, 0], bad[:, 0]) if is_flat else (good, bad)
        inputs = (x, picks[0], x) if op == "ScatterND" else (x, picks[0])
        file = convert(model_of(op, inputs, out=(np.float32, shape)), Options(strip=True)).data
        names = {"x": x, "good": picks[0], "bad": picks[1], "values": x}
        files = {"model.bin": file} | {name: v.tobytes() for name, v in names.items()}
        result = small.run(target, AGAIN, files).splitlines()
        assert result[0] == result[2] and result[0].startswith("an index is "), op
        assert result[1] == result[3] == expected.tobytes().hex(), op
