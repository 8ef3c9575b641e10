"""Tables of the channels of quantized products in few bits: tools/converter/numbers/qtables.py"""

import numpy as np
import pytest

from tests.host.device import small
from tests.host.ops.against_ort import run
from tests.host.ops.test_qconv import SHAPES, F, check, conv
from tools.converter.numbers import channel_table, qtables
from tools.converter.numbers.channel_table import multiplier_fields, numbers_of
from tools.converter.ops._requantize import MOST_LEFT, requantized

on_targets = pytest.mark.parametrize("target", ["unix", "unix32", "unix-plain"], indirect=True)
# Parameters: whether sums of rows are left out, bits of c, bits and unit of the multiplier.
SUMS, C_BITS, WORD_BITS, UNIT = "lacks_sums", "table.bits", "table.word_bits", "table.low"


def params(node, name):
    return node.converted(node.expected()).graph.steps[0][name]


@on_targets
def test_few_bits(target):
    """Where every kind of channel is: shifts to both sides, one channel, equal ones."""
    shapes = [((1, 3, 9, 9), (16, 3, 1, 1), {}), ((1, 2, 4, 4), (1, 2, 1, 1), {})]
    shapes += [((1, 8, 9, 9), (8, 1, 3, 3), {"group": 8})]
    nodes = [conv(np.uint8, np.int8, *shape, of) for shape in shapes for of in (True, False)]
    for node, factor in zip(nodes, (1, 40, 1e-4, 1e4, 3, 1), strict=True):
        node.inputs[6] = np.array(node.inputs[6] * factor, F)
    check(target, nodes, {"qconv", "qdepthwise"})
    assert max(params(n, C_BITS) for n in nodes) < 32
    assert [params(n, WORD_BITS) for n in nodes[1::2]] == [0, 0, 0]


@on_targets
def test_sums_of_rows(target, monkeypatch):
    """What a board adds up again are the same integers as those of a table with all of it."""
    shapes = [s for s in SHAPES if s[1][1] > 1]  # not those by single channels
    nodes = [conv(dtype, np.int8, *s, True) for s in shapes for dtype in (np.uint8, np.int8)]
    for node in nodes:
        node.inputs[2] = np.array(90, node.inputs[2].dtype)
        node.inputs[8] = node.inputs[8] // 100  # small next to what the zero point adds
    expected = [n.expected() for n in nodes]
    assert not any(params(n, SUMS) for n in nodes)
    short_always(monkeypatch)
    monkeypatch.setattr(channel_table, "_LARGEST_UNIT", 0)
    assert sum(params(n, SUMS) for n in nodes) >= 8
    got = run(target, nodes, expected)
    check(target, nodes, {"qconv"})
    monkeypatch.setattr(qtables, "pack", lambda graph: None)
    for node, [a], [b] in zip(nodes, got, run(target, nodes, expected), strict=True):
        np.testing.assert_array_equal(a, b, str(node))


@on_targets
def test_rounded_multipliers(target, monkeypatch):
    """They are shorter by 9 bits or more, and change less than one element of a thousand."""
    nodes = [conv(np.uint8, np.int8, *shape, True) for shape in SHAPES if shape[1][0] > 4]
    nodes += [conv(np.int8, np.int8, (1, 8, 40, 40), (m, 8, 1, 1), {}, True) for m in (16, 48)]
    exact = [params(n, WORD_BITS) for n in nodes]
    short_always(monkeypatch)
    check(target, nodes, {"qconv", "qdepthwise"})
    bits = [params(n, WORD_BITS) for n in nodes]
    assert all(a - b >= 9 for a, b in zip(exact, bits, strict=True))
    assert all(0 < params(n, UNIT) < 12 for n in nodes)


@on_targets
@pytest.mark.parametrize(("mode", "amount"), [("words", "1"), ("several", "1000")])
@pytest.mark.parametrize("rows", [(10, 3, 1, 2), (6, 1, 3, 3)])
def test_damage(target, mode, amount, rows, monkeypatch):
    short_always(monkeypatch)
    node = conv(np.uint8, np.int8, (1, 6, 7, 8), rows, {"group": 6 // rows[1]}, True)
    node.inputs[2], node.inputs[8] = np.array(90, np.uint8), node.inputs[8] // 100
    assert 0 < params(node, UNIT) < 16 and (rows[1] == 1 or params(node, SUMS))
    report = small.damage(target, node.converted(node.expected()).data, mode, amount)
    assert report.ok and report.refused > 100 and report.ran > 100, report


def short_always(monkeypatch):
    monkeypatch.setattr(qtables, "_LEAST_SHORTENED", -1.0)
    monkeypatch.setattr(qtables, "_LEAST_SHORTENED_NBYTES", -1000)


@pytest.mark.parametrize("spread", [1e-6, 1e-5, 1e-4, 0.01, 1, 3, 20])
def test_a_multiplier_is_the_nearest_or_the_next(spread):
    rng = np.random.default_rng(3)
    for _ in range(200):
        scales = np.exp2(rng.uniform(-12 - spread / 2, -12 + spread / 2, 50)).astype(F)
        at_rest = rng.integers(-30000, 30000, 50)
        numbers = numbers_for(scales)
        fields = multiplier_fields(*numbers, True, at_rest)
        assert fields.values.min() >= 0 and fields.values.max() < 1 << fields.bits
        if numbers[0].max() > MOST_LEFT:  # shifts to the right
            assert fields.unit == 1
        got = scales_of(*numbers_of(fields))
        assert np.abs(got / scales.astype(np.float64) - 1).max() <= fields.unit / (1 << 23)


@pytest.mark.parametrize("apart", [1, 3, 700, 710, 70000])
def test_scales_that_are_almost_the_same(apart):
    """In the last places of a float32, above a power of two."""
    bits = F(2**-7).view(np.int32) + np.arange(16, dtype=np.int32) % 2 * apart
    numbers = numbers_for(bits.view(F))
    for are_rounded in (False, True):
        fields = multiplier_fields(*numbers, are_rounded, np.zeros(16, np.int64))
        got = scales_of(*numbers_of(fields))
        assert np.abs(got / bits.view(F) - 1).max() <= (fields.unit - 1) / (1 << 23)


def test_a_sum_at_rest_stays_what_it_is():
    """Of multipliers that change what such a sum gives, most find one beside that does not."""
    rng = np.random.default_rng(4)
    scales = np.exp2(rng.uniform(-12, -11, 20000)).astype(F)
    numbers = numbers_for(scales)
    middles = (rng.integers(-100, 100, len(scales)) + 0.5) / scales
    at_rest = np.rint(middles).astype(np.int64)
    fields = multiplier_fields(*numbers, True, at_rest)
    right = requantized(at_rest, *numbers)
    is_off = requantized(at_rest, *numbers_of(fields)) != right
    nothing = multiplier_fields(*numbers, True, np.zeros_like(at_rest))
    was_off = requantized(at_rest, *numbers_of(nothing)) != right
    assert was_off.sum() > 100 and is_off.sum() < 0.02 * was_off.sum()


def numbers_for(scales):
    """Shifts and mantissas of float32s."""
    fractions, exponents = np.frexp(scales.astype(np.float64))
    left = exponents + 16
    mantissas = np.ldexp(fractions, 31).astype(np.int64)
    return np.where(left < 0, MOST_LEFT - left, left).astype(np.int64), mantissas


def scales_of(f, m):
    return m * np.exp2(np.where(f > MOST_LEFT, -22.0 - f, f - 47.0))
