"""Modules under names that all firmware has do what they did."""

from tools.deploy.shrink import shrunk

SOURCE = """
import sys

if sys.implementation.name != "micropython":
    raise ImportError

_LIMIT = 3
RATE = 5


def _half(value, rest=0):
    return value // 2 + rest


def load(source, twice=False):
    inner = lambda a: a + _LIMIT
    return inner(_half(source)) * (2 if twice else 1)


class Thing:
    def __init__(self, start):
        self._what = start

    def run(self, x=None):
        return self._read(x or 0)

    def _read(self, amount):
        return self._what + amount
"""


def names(**found):
    exec(shrunk(SOURCE), found)
    return found


def test_what_others_use_stays():
    found = names()
    assert found["load"](8) == 7 and found["load"](source=8, twice=True) == 14
    assert found["RATE"] == 5
    assert found["Thing"](4).run(x=5) == 9 and found["Thing"](4).run() == 4


def test_other_names_go():
    text = shrunk(SOURCE)
    for name in ("_LIMIT", "_half", "value", "rest", "amount", "_what", "_read", "implementation"):
        assert f"{name}" not in text.replace("values", ""), name


def test_imports_keep_their_names():
    text = shrunk(
        "def load(x):\n    import math\n\n    def f(a, math=math):\n        return math.sqrt(a)\n"
        "    return f(x)\n"
    )
    found = {}
    exec(text, found)
    assert found["load"](4) == 2


def test_a_name_that_is_taken_is_not_given_again():
    text = shrunk("def load(append):\n    def f(a):\n        return append, a\n    return f(1)\n")
    found = {}
    exec(text, found)
    assert found["load"](7) == (7, 1)
