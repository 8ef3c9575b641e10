"""Sources of loops run as they stand, and do what the modules do that are made of them."""

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
    """The functions of all that is written once, (family, name, arguments): loops, or others."""
    found = []
    for (family, _), module in python.modules().items():
        if python.is_common(module.text):
            for node in Source(package.ROOT / module.shown).tree.body:
                if isinstance(node, ast.FunctionDef) and not is_helper(node):
                    args = [arg.arg for arg in node.args.args]
                    if (args == ABI) == abi:
                        found.append((family, node.name, args))
    return found


def both(family, name):
    """A function as it stands, and the one that is made of it."""
    source = importlib.import_module(f"mpconnxr.loops.{family}")
    return [getattr(module, name) for module in (source, made(family))]


@functools.cache
def made(family):
    """The module that is built, among the package's others."""
    path = store.loops().path(family)
    spec = importlib.util.spec_from_file_location(f"mpconnxr.loops.made_{family}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_there_are_loops_and_functions_that_call_them():
    assert len({family for family, _, _ in functions(True)}) > 70
    assert len({family for family, _, _ in functions(False)}) > 15


@pytest.mark.parametrize("family, name", [f[:2] for f in functions(True)])
def test_loop_as_it_stands(family, name):
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
    """What a function has called, with which arguments, and what its parameters were then."""

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
    """What stands for a loop, or a buffer."""

    def __init__(self, name, trace):
        self.name, self._trace = name, trace

    def __call__(self, *args):
        self._trace.called(self.name, args)

    def __getitem__(self, at):
        return self._trace.found(self.name, at)


class _Parameters(list):
    """Words that cannot be read for ever."""

    n_reads = 0

    def __getitem__(self, at):
        self.n_reads += 1
        if self.n_reads > _MOST_READS:
            raise TimeoutError
        return super().__getitem__(at)


def run(function, args, seed):
    """Calls, and what is in the parameters at the end; or how it ended else."""
    numbers = random.Random(seed)
    p = _Parameters(numbers.choice([0, 1, 1, 2, 3, 4, 5, 9]) for _ in range(128))
    trace = _Trace(p, seed)
    given = {"p": p, "h": p, "us": 1, "me": numbers.randint(1, 2)}
    given |= {name: _Loop(name, trace) for name in ("run", "idle")}
    given |= {name: [_Loop(f"{name}[{i}]", trace) for i in range(32)] for name in ("w", "box")}
    given |= {name: [numbers.randrange(9) for _ in range(8)] for name in ("words", "other")}
    written = {name: [numbers.randrange(9) for _ in range(300)] for name in _OF_TABLE}
    try:
        function(*[(given | written)[arg] for arg in args])
    except TimeoutError:  # how often one reads p may differ
        return trace, None
    except (StopIteration, ZeroDivisionError, IndexError) as e:
        return trace, list.copy(p), type(e)
    return trace, list.copy(p), given["words"] + given["other"], written


@pytest.mark.parametrize("family, name, args", functions(False))
def test_calls_of_loops_as_they_stand(family, name, args):
    source, built = both(family, name)
    n_ended = 0
    for seed in range(N_RUNS):
        expected = run(built, args, seed)
        assert run(source, args, seed) == expected
        n_ended += len(expected) == 4
    assert n_ended > 3
