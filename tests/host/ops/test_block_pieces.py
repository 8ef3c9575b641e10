"""The bits of a convolution do not depend on how its rows are split."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.test_block_kernels import conv, converted, floats, outputs_of
from tests.host.ops.test_conv_max_pool import MODELS
from tools.converter import plan
from tools.converter.convert import Options, convert
from tools.converter.ops import _pieces
from tools.micropython import UNIX_TARGETS

on_targets = pytest.mark.parametrize("target", UNIX_TARGETS, indirect=True)
NODES = [
    conv((1, 3, 9, 8), (4, 3, 3, 3), pads=[1, 1, 1, 1]),
    conv((2, 6, 9, 8), (6, 1, 3, 3), pads=[1, 1, 1, 1], group=6),
    conv((1, 4, 9, 12), (10, 2, 3, 3), pads=[1, 0, 1, 0], group=2, dilations=[1, 2]),
    conv((1, 3, 12, 13), (5, 3, 4, 4), strides=[2, 3]),
    conv((1, 2, 5, 6, 7), (3, 2, 2, 3, 3), pads=[1] * 6),
]
BUDGETS = 0, 90, 160, 400, 1200  # words


@pytest.fixture
def only_lowered(monkeypatch):
    """Keep scratch as the lowering has it, which may take all memory."""
    monkeypatch.setattr(plan, "fill_gaps", lambda *_: None)
    monkeypatch.setattr(_pieces, "SHARE", 1e-6)


@on_targets
def test_splitting_rows_changes_no_bit(target, only_lowered, monkeypatch):
    models, values, cuts = [], [], []
    for words in BUDGETS:
        monkeypatch.setattr(_pieces, "MOST_WORDS", words)
        for node in NODES:
            models.append(converted(node))
            values.append(node.values())
        for source in MODELS.values():
            models.append(convert(source, Options(strip=True)))
            shape = models[-1].graph.inputs[0].shape
            values.append([np.random.default_rng(4).standard_normal(shape).astype(np.float32)])
        n = len(NODES) + len(MODELS)
        cuts.append([m.graph.steps[0].params for m in models[-n:]])
    assert all(len({str(params) for params in each}) > 1 for each in zip(*cuts, strict=True))
    result = outputs_of(target, models, values)
    for i, got in enumerate(result):
        assert np.array_equal(got.view(np.int32), result[i % n].view(np.int32)), cuts[i // n][
            i % n
        ]


def test_the_cheapest_split_that_fits_is_chosen():
    pieces = _pieces.Pieces(1, 16, 12, 12, 40, 5, 1, 1, (3, 3))
    costs = []
    for words in (300, 400, 700, 1200, 5000):
        cut = pieces.best(words)
        assert pieces.words(cut) <= words and cut.positions % 3 in (0, 1)
        costs.append(pieces.cost(cut))
    assert costs == sorted(costs, reverse=True) and costs[0] > costs[-1]
    least = pieces.best(0)
    assert least.positions == 1 and pieces.words(least) < 267


def test_a_small_convolution_gets_more_scratch(monkeypatch):
    """With a sixteenth of its tensors as scratch it would compute single positions."""
    nodes = [("Conv", "x w", "y", {"pads": [1, 1]})]
    inputs, outputs = [small.value("x", (1, 16, 64))], [small.value("y", (1, 16, 64))]
    source = small.model(nodes, inputs, outputs, w=floats(16, 16, 3))
    after = convert(source, Options(strip=True))
    monkeypatch.setattr(plan, "widen", lambda graph, placed, *_: placed)
    before = convert(source, Options(strip=True))
    assert before.plan.arena_bytes < after.plan.arena_bytes <= 1.05 * before.plan.arena_bytes
    [(few, many)] = [
        [step["n_positions"] for step in steps]
        for steps in zip(before.graph.steps, after.graph.steps, strict=True)
    ]
    assert 2 * few <= many


def test_scratch_takes_free_memory(monkeypatch):
    """The first convolution determines the arena, in which the second one's scratch fits."""
    nodes = [
        ("Conv", "x w", "c", {"pads": [1, 1, 1, 1]}),
        ("MaxPool", "c", "m", {"kernel_shape": [4, 4], "strides": [4, 4]}),
        ("Conv", "m v", "y", {"pads": [1, 1, 1, 1]}),
    ]
    weights = {"w": floats(8, 4, 3, 3), "v": floats(3, 8, 3, 3)}
    inputs, outputs = [small.value("x", (1, 4, 20, 20))], [small.value("y", (1, 3, 5, 5))]
    source = small.model(nodes, inputs, outputs, **weights)
    monkeypatch.setattr(plan, "widen", lambda graph, placed, *_: placed)
    with monkeypatch.context() as patch:
        patch.setattr(plan, "fill_gaps", lambda *_: None)
        before = convert(source, Options(strip=True))
    after = convert(source, Options(strip=True))
    assert after.plan.arena_bytes == before.plan.arena_bytes
    assert after.plan.lower_bound_bytes == before.plan.lower_bound_bytes
    sizes = [[s.scratch[0].nbytes for s in converted.graph.steps] for converted in (before, after)]
    assert sizes[1][1] > 2 * sizes[0][1]
    for b in after.plan.blocks:
        assert b.offset + b.nbytes <= after.plan.arena_bytes
        for other in after.plan.blocks:
            apart = b.offset >= other.offset + other.nbytes or other.offset >= b.offset + b.nbytes
            assert b is other or not b.meets(other) or apart or b.over or other.over
