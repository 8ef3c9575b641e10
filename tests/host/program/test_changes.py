"""Words of parameter blocks that loops and drivers write are found, or taken for all words."""

import pytest

from tools.program import changes
from tools.program.call import UNKNOWN, Call, Loop, Part


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


def test_indices_are_followed_in_sources():
    assert changes.written(constant) == {2: {3, 6}, 3: {2, 4}}
    assert changes.written(computed) == {2: changes.ALL, 3: {0}}
    assert changes.written(driver) == {0: {8}}


def test_indices_of_a_drivers_calls_are_followed():
    assert changes.inner_calls(driver) == ((0, (1, 1, 1, 2)),)
    with pytest.raises(LookupError):
        changes.inner_calls(unclear)


@pytest.fixture
def changed(monkeypatch):
    """Return a function: indices that a driver's call of a loop writes, in all its block."""
    original = changes._function
    own = {"constant": constant}
    monkeypatch.setattr(changes, "_function", lambda loop: own.get(loop.name) or original(loop))

    def found(family, name, words, own=(), called=driver):
        whole, part = Part(0, 0, len(words)), Part(0, 4, 7)
        elements = Loop(family, name), whole, part
        call = Call(Loop("none", "driver"), (whole, elements), {0: list(words)})
        inner = changes._DriverWrites(call, elements, [(whole, frozenset(own))])
        return {i for _, indexes in inner.written(called) for i in indexes}

    return found


def test_sources_say_what_inner_loops_write(changed):
    assert changed("none", "constant", range(12)) >= {3, 6}


def test_declarations_say_where_a_loop_writes(changed):
    """peak writes element p[2], and the driver sets another word of its block."""
    assert changed("block", "peak", [0] * 6 + [9, 0, 0, 0], own=[4]) == {9}
    assert changed("block", "peak", [0] * 6 + [9, 0, 0, 0], own=[6]) == {-1}
    assert changed("block", "peak", [0] * 6 + [UNKNOWN, 0, 0, 0]) == {-1}


def test_unknown_indices_mean_all_words(changed):
    assert changed("block", "peak", [0] * 10, called=unclear) >= {-1}
