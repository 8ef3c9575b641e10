"""Tables for channels of quantized products in few bits: tools/converter/numbers/qtables.py."""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.against_ort import run
from tests.host.ops.test_qconv import SHAPES, F, check, conv
from tools.converter.numbers import qtables

on_targets = pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain"], indirect=True)
# Parameters: whether sums of rows are left out, bits of c, bits of the multiplier.
SUMS, C_BITS, SCALE_BITS = "lacks_sums", "table.bits", "table.scale_bits"


def params(node, name):
    return node.converted(node.expected()).graph.steps[0][name]


@on_targets
def test_tables_of_few_bits_give_the_same_integers(target):
    """Channels shift to both sides; some convolutions have one channel, some equal ones."""
    shapes = [((1, 3, 9, 9), (16, 3, 1, 1), {}), ((1, 2, 4, 4), (1, 2, 1, 1), {})]
    shapes += [((1, 8, 9, 9), (8, 1, 3, 3), {"group": 8})]
    nodes = [conv(np.uint8, np.int8, *shape, of) for shape in shapes for of in (True, False)]
    for node, factor in zip(nodes, (1, 40, 1e-4, 1e4, 3, 1), strict=True):
        node.inputs[6] = np.array(node.inputs[6] * factor, F)
    check(target, nodes, {"qconv", "qdepthwise"})
    assert max(params(n, C_BITS) for n in nodes) < 32
    assert [params(n, SCALE_BITS) for n in nodes[1::2]] == [0, 0, 0]


@on_targets
def test_boards_recompute_the_sums_of_rows(target, monkeypatch):
    """The board's sums are the same integers as those of a complete table."""
    shapes = [s for s in SHAPES if s[1][1] > 1]  # not those by single channels
    nodes = [conv(dtype, np.int8, *s, True) for s in shapes for dtype in (np.uint8, np.int8)]
    for node in nodes:
        node.inputs[2] = np.array(90, node.inputs[2].dtype)
        node.inputs[8] = node.inputs[8] // 100  # small next to what the zero point adds
    expected = [n.expected() for n in nodes]
    assert not any(params(n, SUMS) for n in nodes)
    short_always(monkeypatch)
    assert sum(params(n, SUMS) for n in nodes) >= 8
    got = run(target, nodes, expected)
    check(target, nodes, {"qconv"})
    monkeypatch.setattr(qtables, "pack", lambda graph: None)
    for node, [a], [b] in zip(nodes, got, run(target, nodes, expected), strict=True):
        np.testing.assert_array_equal(a, b, str(node))


@pytest.mark.slow
@on_targets
@pytest.mark.parametrize(("mode", "amount"), [("words", "1"), ("several", "1000")])
@pytest.mark.parametrize("rows", [(10, 3, 1, 2), (6, 1, 3, 3)])
def test_damaged_tables_do_no_harm(target, mode, amount, rows, monkeypatch):
    short_always(monkeypatch)
    node = conv(np.uint8, np.int8, (1, 6, 7, 8), rows, {"group": 6 // rows[1]}, True)
    node.inputs[2], node.inputs[8] = np.array(90, np.uint8), node.inputs[8] // 100
    assert params(node, C_BITS) < 32 and (rows[1] == 1 or params(node, SUMS))
    report = small.damage(target, node.converted(node.expected()).data, mode, amount)
    assert report.ok and report.refused > 100 and report.ran > 100, report


def short_always(monkeypatch):
    monkeypatch.setattr(qtables, "_LEAST_SHORTENED", -1.0)
    monkeypatch.setattr(qtables, "_LEAST_SHORTENED_NBYTES", -1000)
