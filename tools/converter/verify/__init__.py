"""Verify a model after each pass: an error in a pass ends the conversion with the pass's name.

The structure (see structure.py) is checked after every pass that changed something. In an
environment with MPCONNXR_CHECK=1, or with `--check`, so are the types of all values (see types.py)
and what no pass may change: the model's inputs and outputs. The plan of the arena: see arena.py.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import onnx
import onnx_ir as ir

from ..errors import ConvertError
from ..shapes import declarations
from . import types
from .structure import fault_of, hidden_in

ENVIRONMENT = "MPCONNXR_CHECK"
_REPORT = "please report it with the model"
_is_asked_for: ContextVar[bool] = ContextVar("is_asked_for", default=False)


class InternalError(ConvertError):
    """A pass of the converter made an invalid model.

    name: the pass; fault: what is invalid; level: the highest value of --optimize that leaves the
    pass out, None if all run it.
    """

    def __init__(self, name: str, fault: str, level: int | None = None):
        way_out = "" if level is None else f"; --optimize {level} avoids it"
        super().__init__(f"internal error after pass {name}: {fault}; {_REPORT}{way_out}")


@contextmanager
def every_pass(is_asked_for: bool) -> Iterator[None]:
    """Verify all that can be verified while this lasts, if that is asked for."""
    token = _is_asked_for.set(is_asked_for)
    try:
        yield
    finally:
        _is_asked_for.reset(token)


def is_thorough() -> bool:
    """Return True if types, inputs and outputs are verified beside the structure."""
    return is_asked_for() or os.environ.get(ENVIRONMENT) == "1"


def is_asked_for() -> bool:
    """Return True if the user wants all verified, however long it takes."""
    return _is_asked_for.get()


def check_graph(
    graph: onnx.GraphProto | ir.Graph,
    name: str,
    level: int | None = None,
    before: onnx.GraphProto | None = None,
) -> None:
    """Raise InternalError if a graph is invalid after the pass of this name.

    before: the graph that the pass was given, which may hide names.
    """
    fault = fault_of(graph)
    if fault and before is not None:
        fault = fault_of(graph, hidden_in(before))
    if fault:
        raise InternalError(name, fault, level)


def check_types(
    model: onnx.ModelProto,
    given: onnx.ModelProto,
    name: str,
    level: int | None = None,
    before: types.Interface | None = None,
) -> None:
    """Raise InternalError if a pass left a wrong type, or changed the model's interface.

    Types that contradict each other in the given model are its author's fault: lowering refuses
    it, and names the node.

    Args:
        model: what the pass made.
        given: a model that the pass, or one before it, was given.
        name: the pass.
        level: see InternalError.
        before: the interface that the pass has to keep, by default that of the given model.

    """
    fault = types.changed_interface(
        before or types.interface_of(given.graph), types.interface_of(model.graph)
    )
    if not fault:
        fault = types.fault_of(model)
        if fault and types.fault_of(given, is_strict=True):
            return
    if fault:
        raise InternalError(name, fault, level)


def passed(
    before: onnx.ModelProto,
    after: onnx.ModelProto,
    name: str,
    level: int | None = None,
    keeps_dtypes: bool = True,
) -> onnx.ModelProto:
    """Return the model that a pass made of another one, once it is verified.

    keeps_dtypes: the pass may not change the dtype of an input or output. Raises InternalError.
    """
    if after is not before:
        check_graph(after.graph, name, level, before.graph)
        # A declaration that had to be believed may turn out wrong when more is known.
        if is_thorough() and not declarations.is_marked(before):
            interface = types.interface_of(before.graph, keeps_dtypes)
            check_types(after, before, name, level, interface)
    return after
