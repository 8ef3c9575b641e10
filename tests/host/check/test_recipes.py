"""Recipes of random calls keep what loops declare, and give the same calls every time."""

from array import array

import pytest

from tests.host.loop_calls import WORDS, Draw
from tools import access
from tools.access import AccessError
from tools.check import recipes
from tools.check.loops import families, loops_of, written_by_hand

LOOP = """
# Parameters of loop
_START = 0  # the first element [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_FLIP = 2  # [mask] 0, 128
_POINT = 3  # [bits] 3..5


def loop(x: ptr32, w: ptr8, out: ptr16, p: ptr32):
    \"\"\"
    Access:
        {}
    \"\"\"
"""
LINES = ("reads x[start : end]", "reads w[0 : 256]", "writes out[start : end]")


def calls(folder, *lines, n=300):
    """Return n calls of a loop with these declarations."""
    path = folder / "some.py"
    path.write_text(LOOP.format("\n        ".join(lines)))
    result, draw = recipes._recipes(access.read(path)["loop"], "some.loop"), Draw(WORDS, 1)
    return [draw.call(result[i % len(result)]) for i in range(n)]


def test_parameters_and_buffers_keep_their_declarations(tmp_path):
    result = calls(tmp_path, *LINES)
    for x, w, out, (start, end, flip, point) in result:
        assert 0 <= start and flip in (0, 128) and 3 <= point <= 5
        assert start >= end or len(x) == end and (x.typecode, out.typecode) == ("i", "H")
        assert len(w) == 256 and isinstance(w, bytearray) and set(out) == {77}
    assert {call[3][3] for call in result} == {3, 4, 5}
    sizes = {call[3][1] - call[3][0] for call in result}
    assert sizes > {0, 1, 2, 3, 9} and max(sizes) > 30


def test_elements_keep_their_limits(tmp_path):
    limits = ("given 5 <= x[start : end] < 9", "given w[2 * i : 2 * i + 1] < 3 for i in range(9)")
    result = calls(tmp_path, *LINES, *limits)
    elements = {v for x, _, _, p in result for v in x[p[0] : p[1]]}
    assert elements == {5, 6, 7, 8}
    assert {v for _, w, _, _ in result for v in w[:18:2]} == {0, 1, 2}
    assert {v for _, w, _, _ in result for v in w[1:18:2]} > {0, 1, 2, 3, 255}


def test_a_magnitude_has_both_signs(tmp_path):
    result = calls(tmp_path, *LINES, "given magnitude(x[start : end]) < 1 << 23")
    elements = {v for x, _, _, p in result for v in x[p[0] : p[1]]}
    assert all(v & 0x7FFFFFFF < 1 << 23 for v in elements)
    assert {v < 0 for v in elements} == {True, False}


def test_parameters_keep_their_relations(tmp_path):
    for _, _, _, p in calls(tmp_path, *LINES, "given start < end and end == 3 * start"):
        assert 0 < 3 * p[0] == p[1]


@pytest.mark.parametrize("line", ("given start > 900", "reads x[0 : 9000]", "reads x[0 - 1 : 4]"))
def test_a_loop_without_small_calls_is_refused(tmp_path, line):
    with pytest.raises(AccessError, match="some.loop: only 0 of"):
        calls(tmp_path, *LINES, line)


def test_calls_are_the_same_every_time():
    result = recipes.recipes("relu", "relu32")
    recipes._recipes.cache_clear()
    assert recipes.recipes("relu", "relu32") == result
    assert len(set(result)) > 50


@pytest.mark.slow
def test_every_loop_has_calls():
    for family in families():
        for name in {*loops_of(family)} - written_by_hand(family):
            x, w, out, p = Draw(WORDS, 1).call(recipes.recipes(family, name)[0])
            assert isinstance(p, list) and isinstance(out, array)
