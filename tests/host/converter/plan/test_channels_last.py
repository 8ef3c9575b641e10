"""Byte convolutions in channels-last layout give the same bytes as in channels-first layout."""

import numpy as np
import pytest

from tests.host.ops.test_patch_room import HALVED, PADDED, chain
from tools.converter import plan
from tools.converter.convert import Options, convert
from tools.converter.ops._qweights import packed_rows, rows_of
from tools.harness import Job, run_jobs

WIDE = {"pads": [2, 1, 0, 2], "strides": [1, 2]}
CHAINS = [  # the second is read by windows; in the last one a depthwise one writes it
    chain((1, 3, 9, 8), (8, 1, {}), (6, 3, PADDED), (7, 3, WIDE), (4, 1, {})),
    chain((1, 5, 12, 11), (12, 3, HALVED), (5, 5, WIDE), (9, 2, {})),
    chain((1, 8, 10, 10), (8, 3, PADDED | {"group": 8}), (8, 3, HALVED)),
]


def turned(converted):
    steps = [s for s in converted.graph.steps if s.kernel == "qconv" and s.scratch]
    return [s for s in steps if s["c"] == s["x_strides.x"] == 1 < s["kw"]]


@pytest.mark.parametrize("target", ["unix", "unix32"], indirect=True)
def test_channels_last_gives_the_same_bytes(target, monkeypatch):
    rng = np.random.default_rng(5)
    x = []
    for model in CHAINS:
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        x.append(rng.integers(0, 256, shape, np.uint8).tobytes())
    made = [convert(model, Options(strip=True)) for model in CHAINS]
    monkeypatch.setattr(plan, "lay_channels_last", lambda _, placed, __: placed)
    plain = [convert(model, Options(strip=True)) for model in CHAINS]
    assert all(turned(converted) for converted in made) and not any(map(turned, plain))
    for converted, other in zip(made, plain, strict=True):
        assert converted.plan.arena_bytes <= other.plan.arena_bytes
    jobs = [Job(m.data, [[v]]) for m, v in zip(made + plain, x * 2, strict=True)]
    outcomes = run_jobs(target, jobs)
    assert not any(o.error for o in outcomes), [o.message for o in outcomes if o.error]
    results = [o.runs[0].outputs[0] for o in outcomes]
    assert results[: len(made)] == results[len(made) :]
    assert min(len(set(out)) for out in results) > 5


@pytest.mark.parametrize("groups, m, k", [(1, 9, 13), (3, 4, 8), (2, 3, 5)])
def test_packed_rows_unpack_to_the_same_rows(groups, m, k):
    rows = np.random.default_rng(1).integers(0, 256, (groups * m, k), np.uint8)
    assert (rows_of(packed_rows(rows, groups), groups, groups * m, k) == rows).all()
