"""Sources of loops run as they stand, and do what the built modules do."""

import ast
import copy
import functools
import importlib.util
import random

import pytest

import mpconnxr.cpython  # noqa: F401  micropython, const, ptr8
from tests.host.loop_calls import calls
from tools import package, store
from tools.loops import python
from tools.loops.source import Source, is_helper

ABI = ["x", "w", "out", "p"]
N_CALLS = 200
N_RUNS = 300  # of functions that call loops
_MOST_CALLS, _MOST_READS = 60, 20_000
_OF_TABLE = ("code", "known", "head", "marks", "a", "b", "state")  # what put and add take


def functions(abi):
    """Return (family, name, arguments) of functions that are written once: loops, or others."""
    results = []
    for (family, _), module in python.modules().items():
        if python.is_common(module.text):
            for node in Source(package.ROOT / module.shown).tree.body:
                if isinstance(node, ast.FunctionDef) and not is_helper(node):
                    args = [arg.arg for arg in node.args.args]
                    if (args == ABI) == abi:
                        results.append((family, node.name, args))
    return results


def both(family, name):
    """Return a function of the source, and the one that is built from it."""
    source = importlib.import_module(f"mpconnxr.loops.{family}")
    return [getattr(module, name) for module in (source, made(family))]


@functools.cache
def made(family):
    """Return the built module, among the package's other modules."""
    path = store.loops().path(family)
    spec = importlib.util.spec_from_file_location(f"mpconnxr.loops.made_{family}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_loops_and_their_callers_are_found():
    assert len({family for family, _, _ in functions(True)}) > 70
    assert len({family for family, _, _ in functions(False)}) > 15


@pytest.mark.parametrize("family, name", [f[:2] for f in functions(True)])
def test_a_source_computes_what_its_module_does(family, name):
    source, built = both(family, name)
    wrote = False
    for call in calls(family, name, N_CALLS):
        before, expected = copy.deepcopy(call), copy.deepcopy(call)
        built(**expected)
        source(**call)
        assert call == expected
        wrote = wrote or call != before
    assert wrote


class _Trace(list):
    """What a function has called, with which arguments, and its parameters at that time."""

    def __init__(self, p, seed):
        self._p, self._random = p, random.Random(seed)

    def called(self, name, args):
        names = ["list" if isinstance(arg, list) else getattr(arg, "name", arg) for arg in args]
        self.append((name, names, list.copy(self._p)))
        if len(self) == _MOST_CALLS:
            raise StopIteration
        if self._random.random() < 0.3:  # as loops write results to it
            self._p[self._random.randrange(100)] = self._random.choice([0, 1, 2, 9, 40, 255])

    def found(self, name, at):
        """Return what is in a buffer that loops write to."""
        self.append((name, at))
        return self._random.choice([0, 1, 127, 255])


class _Loop:
    """A fake loop or buffer."""

    def __init__(self, name, trace):
        self.name, self._trace = name, trace

    def __call__(self, *args):
        self._trace.called(self.name, args)

    def __getitem__(self, at):
        return self._trace.found(self.name, at)


class _Parameters(list):
    """Words whose number of reads is limited."""

    n_reads = 0

    def __getitem__(self, at):
        self.n_reads += 1
        if self.n_reads > _MOST_READS:
            raise TimeoutError
        return super().__getitem__(at)


def run(function, args, seed):
    """Call a function; return its calls and final parameters, or how else it ended."""
    numbers = random.Random(seed)
    p = _Parameters(numbers.choice([0, 1, 1, 2, 3, 4, 5, 9]) for _ in range(128))
    trace = _Trace(p, seed)
    attributes = {"p": p, "h": p, "us": 1, "me": numbers.randint(1, 2)}
    attributes |= {name: _Loop(name, trace) for name in ("run", "idle")}
    attributes |= {
        name: [_Loop(f"{name}[{i}]", trace) for i in range(32)] for name in ("w", "box")
    }
    attributes |= {name: [numbers.randrange(9) for _ in range(8)] for name in ("words", "other")}
    written = {name: [numbers.randrange(9) for _ in range(300)] for name in _OF_TABLE}
    try:
        function(*[(attributes | written)[arg] for arg in args])
    except TimeoutError:  # how often one reads p may differ
        return trace, None
    except (StopIteration, ZeroDivisionError, IndexError) as e:
        return trace, list.copy(p), type(e)
    return trace, list.copy(p), attributes["words"] + attributes["other"], written


@pytest.mark.parametrize("family, name, args", functions(False))
def test_a_source_calls_what_its_module_does(family, name, args):
    source, built = both(family, name)
    n_ended = 0
    for seed in range(N_RUNS):
        expected = run(built, args, seed)
        assert run(source, args, seed) == expected
        n_ended += len(expected) == 4
    assert n_ended > 3
