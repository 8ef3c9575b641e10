"""A package with the firmware's short names behaves as before; see tools/deploy/renaming.py."""

import ast
import builtins
import re

import pytest

from tools.deploy.board_names import in_sources, names_of, renamed
from tools.deploy.errors import DeployError
from tools.deploy.modules import built_package
from tools.deploy.renaming import Renaming, Source, public_names
from tools.made import ROOT
from tools.mpy import firmware

LIMITS = '''
MOST_OF_ALL = 7
_PAIR = NEVER, ALWAYS = 0, 1


class Limit:
    """Doc."""

    factor_of_all = 2

    def __init__(self, amount_of_it, more_of_it=1):
        self.amount_of_it = amount_of_it * self.factor_of_all + more_of_it

    def get_amount(self, times_it=1):
        def append(n_of_it):
            return n_of_it * times_it

        return append(self.amount_of_it)
'''
MODEL = """
import sys

from .limits import MOST_OF_ALL, Limit
from . import limits as the_limits

if sys.implementation.name != "micropython":
    raise ImportError

_CODES = ("get_amount", "hidden_name")
_STEP = const(3)
_rounds = 0


def load(source, append=False):
    global _rounds
    _rounds += _STEP
    inner_of_it = lambda value_of_it: value_of_it + MOST_OF_ALL
    limit = Limit(source, more_of_it=2)
    found = [inner_of_it(getattr(limit, name)(times_it=2)) for name in _CODES[:1]]
    try:
        hidden_name(found, copy=1)
    except ValueError as e:
        found.append(e.args[0])
    return found, the_limits.MOST_OF_ALL, _rounds


def hidden_name(found, copy):
    count = len(found) + copy
    raise ValueError(count)
"""


@pytest.fixture
def names():
    return Renaming.of([Source(LIMITS, "mpconnxr.limits"), Source(MODEL, "mpconnxr.model")])


def run(names, text=MODEL):
    """Return the globals of the model's module, with its own in the new names."""
    limits = names.renamed(LIMITS, "mpconnxr.limits").text
    model = names.renamed(text, "mpconnxr.model").text
    result = {}
    exec(limits, result)
    body = [n for n in ast.parse(model).body if not isinstance(n, ast.ImportFrom)]
    for node in [n for n in ast.parse(model).body if isinstance(n, ast.ImportFrom)]:
        for alias in node.names:
            if alias.name != "limits":
                result[alias.asname or alias.name] = result[alias.name]
    exec(compile(ast.Module(body, []), "model", "exec"), result)
    return result, limits, model


def test_a_renamed_module_does_the_same(names):
    result, _, _ = run(names)
    assert result["load"](4) == ([27, 2], 7, 3)
    assert result["load"](source=4)[2] == 6


def test_names_that_firmware_lacks_are_replaced(names):
    _, limits, model = run(names)
    for name in ("factor_of_all", "amount_of_it", "more_of_it", "n_of_it", "times_it"):
        assert name not in limits + model
    for name in ("value_of_it", "_rounds", "_STEP", "MOST_OF_ALL", "_CODES"):
        assert name not in model
    assert "implementation" not in model


def test_names_in_strings_and_public_names_stay(names):
    _, limits, model = run(names)
    assert "def get_amount(" in limits and "def hidden_name(" in model
    assert "def load(source" in model


def test_lines_stay_where_they_are(names):
    for text, module in ((LIMITS, "limits"), (MODEL, "model")):
        made = names.renamed(text, f"mpconnxr.{module}").text
        lines = [
            [n.lineno for n in ast.walk(ast.parse(t)) if isinstance(n, ast.FunctionDef)]
            for t in (text, made)
        ]
        assert lines[0] == lines[1]


def test_a_custom_kernel_cannot_import_private_names(names):
    with pytest.raises(DeployError, match="imports _rounds"):
        names.renamed("from mpconnxr.model import _rounds\n", "mpconnxr.ops.mine")
    made = names.renamed(
        "from ..limits import Limit\n\n\ndef mine(a):\n    return Limit(a, more_of_it=2)\n",
        "mpconnxr.ops.mine",
    )
    assert "def mine(a)" in made.text and "more_of_it" not in made.text


def test_no_two_names_become_one():
    every = names_of(built_package())
    for names in (every.attributes, every.globals):
        assert len({*names.values()}) == len(names) > 200
        assert not {*names.values()} & {*dir(builtins)}
        assert {*names.values()} <= {*firmware.names()}
    for name in every.attributes.keys() & every.globals.keys():
        assert every.attributes[name] == every.globals[name]


def modules():
    """Yield (name, renamed source, source) of the package's modules without machine code."""
    package = built_package()
    for path in package.paths():
        if package.loops.form_of(path) in (None, "plain"):
            module = package.module(path)
            is_package = path.name == "__init__.py"
            text = renamed(package, module, path.read_text())
            yield (
                module,
                Source(text, module, is_package),
                Source(path.read_text(), module, is_package),
            )


@pytest.mark.slow
def test_functions_in_machine_code_are_found():
    """All forms of a family have the functions that modules request."""
    package, names = built_package(), names_of(built_package())
    requests = {node.attr for _, _, old in modules() for node in old.attributes}
    n = 0
    for path in package.paths():
        if package.loops.form_of(path) not in (None, "plain", "viper"):
            text = path.read_text()
            functions = {*re.findall(r"^def (\w+)", text, re.MULTILINE)} & requests
            made = renamed(package, package.module(path), text)
            there = {*re.findall(r"^def (\w+)", made, re.MULTILINE)}
            expected = {names.attributes.get(name, name) for name in functions}
            assert expected <= there, f"{path}: {expected - there}"
            n += len(functions)
    assert n > 300


@pytest.mark.slow
def test_every_name_that_is_read_is_defined():
    """These are imports, globals, and attributes that only the package has."""
    names = names_of(built_package())
    made = {module: (new, old) for module, new, old in modules()}
    attributes = set().union(*(old.defined for _, old in made.values()))
    for module, (new, old) in made.items():
        for _, alias, origin in new.imports:
            if origin in made and f"{origin}.{alias.name}" not in made:
                bound = made[origin][0].scope.bound
                assert alias.name in bound, f"{module}: {origin}.{alias.name}"
        free = {n for s in new.scopes for n, _, _ in s.uses if s.owner(n) is None}
        before = {n for s in old.scopes for n, _, _ in s.uses if s.owner(n) is None}
        assert free <= before, f"{module}: {free - before}"
        mapped = {names.attributes.get(node.attr, node.attr) for node in old.attributes}
        results = {node.attr for node in new.attributes}
        assert results <= mapped, f"{module}: {results - mapped}"
        back = {new: old for old, new in names.attributes.items()}
        ours = {back[node.attr] for node in new.attributes if node.attr in back}
        assert ours <= attributes, f"{module}: {ours - attributes}"
        assert not old.strings & {*names.attributes, *names.globals}, module


def test_tracebacks_have_the_names_of_the_sources():
    package = built_package()
    renamed(package, "mpconnxr.opening", package.path("opening").read_text())
    names = {new: old for new, old in _functions(package, "opening").items() if old != {new}}
    new, [old] = next(iter(names.items()))
    line = f'  File "opening", line 3, in {new}\n'
    assert in_sources(f"Traceback:\n{line}ValueError: {new}") == (
        f'Traceback:\n  File "opening", line 3, in {old}\nValueError: {new}'
    )
    other = f'  File "main.py", line 3, in {new}'
    assert in_sources(other) == other


def _functions(package, name):
    text = package.path(name).read_text()
    return names_of(package).renamed(text, f"mpconnxr.{name}").functions


def test_public_names_stay():
    """Public names stand in typings, or are imported by flash.py's scripts on boards."""
    public = public_names()
    for path in sorted((ROOT / "typings" / "mpconnxr").rglob("*.pyi")):
        for node in ast.walk(ast.parse(path.read_text())):
            kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
            name = node.name if isinstance(node, kinds) else getattr(node, "arg", "self")
            assert name in public or name == "self" or name[0] == "_", f"{path}: {name}"
    for path in sorted((ROOT / "tools" / "deploy").glob("on_board*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("mpconnxr."):
                assert {alias.name for alias in node.names} <= public, path
