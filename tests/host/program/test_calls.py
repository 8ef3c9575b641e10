"""Tables make the calls that kernels emit, in any repeats, with the same bytes on all boards."""

import json
import random
from importlib import import_module

import numpy as np
import pytest

from mpconnxr import structview
from mpconnxr.build import calls as api
from mpconnxr.build import emission, held, loader
from mpconnxr.build.reader import Reader
from mpconnxr.errors import MpconnxrError
from tests.device import calls_made
from tests.fuzz import seeds
from tests.host.device import small

TARGETS = ("unix", "unix32", "unix-plain", "mps2-an385", "mps2-an385-v6m", "virt-rv32")
_MOST_DEPTH = 6


class OneByOne(api.Calls):
    """Calls that are made one by one, without a table.

    Attributes:
        made: (loop, three places, words of the block).
    """

    def __init__(self, memories):
        super().__init__(memories)
        self.made = []

    def repeat(self, n):
        yield from range(n)

    def call(self, loop, x, w, out, p):
        buffers = [b or emission.NONE for b in (x, w, out)]
        listed = [place for b in buffers for place in b[2:]]
        self.call_with(loop, (*buffers, *listed), [] if p is None else p)

    def call_with(self, loop, buffers, p):
        p = self._last = p if len(p) else self._last
        listed = [self._placed(*b) for b in buffers[3:]]
        places = [self._placed(*b[:2], listed) for b in buffers[:3]]
        used = next((place for place in places if place is not None), None)
        self.made.append((loop, *(used if b is None else b for b in places), list(p)))

    def _placed(self, kind, place, listed=()):
        if kind < 0:
            return _seen(held.filled(self._held[-1 - kind], self._last, listed))
        if kind == 0:
            return None
        _, memory, _, origin = self.memories.spans[kind >> 8]
        return Moved((id(memory), chr(kind & 255), origin, place))


class Moved(tuple):
    """The offset at which a view begins."""


class Loader(loader.Loader):
    """A loader that prepares each kernel twice.

    Attributes:
        expected: by table, (kernel, its calls one by one) of each step.
    """

    def __init__(self, data):
        self.expected = {}
        super().__init__(Reader(data, False))

    def _emitted(self, module, node):
        alone = OneByOne(self._memories())
        module.prepare(node, alone)
        n, step = super()._emitted(module, node)
        if alone.made:
            assert n == len(alone.made), module.__name__
            steps = self.expected.setdefault(self._calls.table, [])
            steps.append((module.__name__, alone.made))
        return n, step


def tree(rng, most=_MOST_DEPTH, depth=0):
    """Return what calls_made reads, with up to three calls or repeats in each repeat."""
    results = []
    for _ in range(rng.randint(1, 3)):
        if depth < most and rng.random() < 0.4:
            results.append([rng.choice((0, 1, 2, 3, 5)), tree(rng, most, depth + 1)])
            continue
        n = rng.randint(1, 6)
        words = [rng.randint(-100, 1 << 29) for _ in range(n)]
        steps = [[rng.choice((0, 0, 1, -7, 90_000)) for _ in range(depth)] for _ in range(n)]
        buffers = [
            [kind, 1000 << 8, [rng.choice((0, 0, 0, 256)) for _ in range(depth)]]
            if rng.random() < 0.8
            else 0
            for kind in (ord("B"), 1 << 8 | ord("i"), ord("B"))
        ]
        results.append([rng.randrange(4), words, steps, buffers])
    return results


def of_table(step, n, rng):
    """Return the calls of a step of a table, in parts that a run may make of it."""
    table, made = step.__self__, []

    def run(what):
        _, words, (entries, advance, code, _, views) = what
        while (k := advance(code, words, views)) != 255:
            loop, *buffers, p = entries[k]
            made.append((loop, *(_seen(b, table.words) for b in buffers), list(p)))

    table.run = run
    low = 0
    while low < n:
        high = min(n, low + rng.choice((1, 2, 7, n)))
        step(low, high)
        assert len(made) == high
        low = high
    return list(made)


def _seen(argument, words=()):
    """Return what distinguishes an argument of a call; `words` are those of the table."""
    if isinstance(argument, Moved):
        return argument
    if isinstance(argument, structview.Moving):
        return id(argument.memory), argument.code, argument.origin, argument.place
    if isinstance(argument, list | tuple):
        return [_seen(each, words) for each in argument]
    if isinstance(argument, str | bytes | int) or callable(argument):
        return argument or None  # 0: a buffer that there is none of
    if isinstance(argument, memoryview) and not _lies_in(argument, words):
        return _address(argument), argument.format, argument.nbytes
    return list(argument)  # a block


def _lies_in(view, words):
    return len(words) and 0 <= _address(view) - _address(words) < words.nbytes


def _address(view):
    return np.asarray(view).ctypes.data


def trees(n, seed=5, most=_MOST_DEPTH):
    rng = random.Random(seed)
    return [[tree(rng, most) for _ in range(3)] for _ in range(n)]


@pytest.mark.slow
def test_a_table_makes_the_emitted_calls():
    n_calls, rng = 0, random.Random(2)
    for number, some in enumerate(trees(600)):
        calls = api.Calls(calls_made.memories())
        steps = calls_made.made(some, calls)
        for _ in range(2):  # the second run begins where the first one ended
            for each, (n, step) in zip(some, steps, strict=True):
                alone = OneByOne(calls.memories)
                calls_made.emit(each, alone, [])
                assert n == len(alone.made), number
                assert not n or of_table(step, n, rng) == alone.made, number
                n_calls += n
    assert n_calls > 50_000


@pytest.mark.slow
def test_calls_grow_equally_in_each_round():
    """Rounds 0 and 1 determine all others, in each kernel's calls."""
    kernels, n_calls, rng = set(), 0, random.Random(6)
    files = {seed.name: seed for some in seeds.collection().values() for seed in some}
    for seed in files.values():
        try:
            loader = Loader(seed.data)
        except MpconnxrError:  # its operators need what this computer lacks
            continue
        for _ in range(2):  # the second run begins where the first one ended
            left = {table: list(steps) for table, steps in loader.expected.items()}
            for n, step in [each for graph in (loader.steps, *loader.bodies) for each in graph]:
                if getattr(step, "__self__", None) in left:
                    kernel, calls = left[step.__self__].pop(0)
                    assert of_table(step, n, rng) == calls, (seed.name, kernel)
                    kernels.add(kernel.rsplit(".", 1)[1])
                    n_calls += n
    emitting = {
        name for name in seeds.kernels() if hasattr(import_module("mpconnxr.ops." + name), "CALLS")
    }
    assert kernels == emitting
    assert n_calls > 5_000


def test_an_aborted_run_leaves_nothing_behind():
    rng = random.Random(4)
    for some in trees(100, 8):
        calls = api.Calls(calls_made.memories())
        steps = [(step, n) for n, step in calls_made.made(some, calls) if n]
        original = [of_table(*each, rng) for each in steps]
        for step, _ in steps[:2]:
            step(0, 1)
        assert [of_table(*each, rng) for each in steps] == original


@pytest.mark.parametrize("target", TARGETS, indirect=True)
def test_boards_make_the_same_bytes(target):
    some, script = trees(12, 3, 3), (small.SCRIPTS / "calls_made.py").read_text()
    printed = small.run(target, script, {"trees.json": json.dumps(some).encode()}, timeout=600)
    assert printed.splitlines() == [str(calls_made.digests(each)) for each in some]
