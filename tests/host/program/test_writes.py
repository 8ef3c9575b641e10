"""What loops and drivers write to blocks of parameters is found, or taken for all of them."""

import pytest

from mpconnxr.loops import block
from tools.program import writes
from tools.program.memory import UNKNOWN, Block
from tools.program.record import Loop, _Inner, _Recorder, _Stub


def constant(x, w, out, p):
    i = 3
    out[i] = x[0]
    i = 5
    out[i + 1] = 7
    while p[0]:
        i = 2
        p[i] = 1
        p[i + 2] = i


def computed(x, w, out, p):
    i = 3
    while p[1]:
        out[i] = 0
        i += 1
    p[0] = helper(out)


def helper(block):
    block[9] = 1
    return 0


def driver(p, w):
    first = w[0]
    whole = w[1]
    part = w[2]
    i = 8
    p[i] = 0
    first(whole, whole, whole, part)


def unclear(p, w):
    loop = w[0] if p[0] else w[1]
    loop(p, p, p, p)


def test_indexes_are_followed_where_the_source_has_them():
    assert writes.written(constant) == {2: {3, 6}, 3: {2, 4}}
    assert writes.written(computed) == {2: writes.ALL, 3: {0}}
    assert writes.written(driver) == {0: {8}}


def test_calls_of_a_driver():
    assert writes.inner_calls(driver) == ((0, (1, 1, 1, 2)),)
    with pytest.raises(LookupError):
        writes.inner_calls(unclear)


def changed(loop, name, words, own=(), called=driver):
    """Indexes of the whole block that a driver's call of a loop writes."""
    whole = Block(list(words))
    part = whole[4:7]
    function = {"constant": constant, "peak": block.peak}[name]
    stub = _Stub(_Recorder(lambda *_: False, False), Loop(loop, name), function)
    inner = _Inner([stub, whole, part], [(whole, frozenset(own))])
    found = list(inner.written(called))
    return {whole.first + i for block, w in found if block.words is whole.words for i in w}


def test_sources_say_what_inner_loops_write():
    assert changed("none", "constant", range(12)) >= {3, 6}


def test_declarations_say_where_a_loop_writes():
    """peak writes item p[2], and the driver sets another word of its block."""
    assert changed("block", "peak", [0] * 6 + [9, 0, 0, 0], own=[4]) == {9}
    assert changed("block", "peak", [0] * 6 + [9, 0, 0, 0], own=[6]) == {-1}
    assert changed("block", "peak", [0] * 6 + [UNKNOWN, 0, 0, 0]) == {-1}


def test_what_cannot_be_followed_is_all():
    assert changed("block", "peak", [0] * 10, called=unclear) >= {-1}
