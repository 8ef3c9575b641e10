"""A copy of mpconnxr whose kernels work on memory without contents: see memory."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple, Protocol

from tools import package

from .memory import BlockView, Memory, Region, block, view

_NAME = package.NAME


class Loops(Protocol):
    """Where kernels get their loops; plain: gives a family's real ones."""

    def family(self, name: str, plain: Callable[[str], ModuleType]) -> Any:
        """Return the module of a family in its best form."""

    def rare(self, family: str, name: str, plain: Callable[[str], ModuleType]) -> Any:
        """Return a loop that is needed seldom."""

    def inline(self, source: str, scope: str) -> Any:
        """Return what inline source defines."""


class _Recording(NamedTuple):
    """Where the copy gets its loops and forms while one model is recorded: see `recorded`."""

    loops: Loops
    has_form: Callable[[str, str], bool]


_copy: dict[str, ModuleType] = {}  # its modules, imported once: that takes 0.1 s
_recordings: list[_Recording] = []  # the one that is under way


@contextmanager
def recorded(loops: Loops, has_form: Callable[[str, str], bool]) -> Iterator:
    """While it lasts, mpconnxr is such a copy.

    has_form: whether the board runs a family in a form.
    """
    usual = _taken()
    sys.modules.update(_copy)
    _recordings.append(_Recording(loops, has_form))
    try:
        if not _copy:
            _prepare()
            _copy.update(_modules())
        yield sys.modules[_NAME]
    finally:
        _recordings.pop()
        found = _taken()
        if _copy:  # it was made; kernels may have imported more since
            _copy.update(found)
        sys.modules.update(usual)


def _modules() -> dict[str, ModuleType]:
    """Return the modules of the package that are imported."""
    found = [n for n in sys.modules if n.startswith(_NAME)]  # of thousands
    return {n: sys.modules[n] for n in found if n == _NAME or n.startswith(_NAME + ".")}


def _taken() -> dict[str, ModuleType]:
    """Remove the package's modules from those that are imported, and return them."""
    return {n: sys.modules.pop(n) for n in _modules()}


def _prepare() -> None:
    """Import the package's modules anew, and have them ask the recorder for loops and memory."""
    arena, forms, parameters, stream, tensor = (
        importlib.import_module(f"{_NAME}.{name}")
        for name in ("arena", "forms", "parameters", "stream", "tensor")
    )
    plain = forms.get
    numbers = importlib.import_module(f"{_NAME}.numbers")
    numbers.forms = SimpleNamespace(get=plain)  # the file is read, not recorded

    def precedes(name: str, form: str, other: str) -> bool:
        has_form = _recordings[-1].has_form
        for each in forms.order:
            if each == form:
                return has_form(name, form)
            if has_form(other, each):
                return False
        return False

    def typed(buffer: Any, offset: int, code: str, n: int) -> Any:
        make = view if isinstance(buffer, Memory | Region) else usual_view
        return make(buffer, offset, code, n)

    usual_view, tensor.view = tensor.view, typed
    parameters.block, parameters.block_of = block, lambda values: block(*values)
    forms.get = lambda name, form=None: _recordings[-1].loops.family(name, plain)
    forms.later = lambda name, function: _recordings[-1].loops.rare(name, function, plain)
    forms.precedes = precedes
    # a Loader asks for the arena with the caller's own, for the state without
    arena.make = lambda nbytes, *given: Memory("arena" if given else "state", nbytes)
    for path in package.KERNELS.glob("*.py"):
        name = f"{_NAME}.ops.{path.stem}".removesuffix(".__init__")
        module = importlib.import_module(name)
        module.memoryview = BlockView
        if hasattr(module, "compile_loop"):
            module.compile_loop = lambda template, expression, scope: _recordings[-1].loops.inline(
                template.format(expression), scope["__name__"]
            )
    stream.tensor.view = typed
