"""Verify a model after each pass: an error ends the conversion with the name of the pass.

The structure (structure.py) is checked after every pass that changed something. With
MPCONNXR_CHECK=1 in the environment, or `--check`, the types of all values (types.py) and the
model's inputs and outputs, which no pass may change, are checked too. arena.py checks the plan of
the arena.
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
# Hidden state: `every_pass` sets it for one conversion, since passes do not get the options;
# `is_thorough` and calls.py read it.
_is_requested: ContextVar[bool] = ContextVar("is_requested", default=False)


class InternalError(ConvertError):
    """A pass of the converter made an invalid model.

    Args:
        name: name of the pass.
        fault: what is invalid.
        level: highest value of --optimize that skips the pass; None if all levels run it.
    """

    def __init__(self, name: str, fault: str, level: int | None = None):
        advice = "" if level is None else f"; --optimize {level} avoids it"
        super().__init__(f"internal error after pass {name}: {fault}; {_REPORT}{advice}")


@contextmanager
def every_pass(is_requested: bool) -> Iterator[None]:
    """Verify all that can be verified during the context, if requested."""
    token = _is_requested.set(is_requested)
    try:
        yield
    finally:
        _is_requested.reset(token)


def is_thorough() -> bool:
    """Return True if types, inputs and outputs are verified besides the structure."""
    return is_requested() or os.environ.get(ENVIRONMENT) == "1"


def is_requested() -> bool:
    """Return True if the user wants everything verified, however long it takes."""
    return _is_requested.get()


def check_graph(
    graph: onnx.GraphProto | ir.Graph,
    name: str,
    level: int | None = None,
    before: onnx.GraphProto | None = None,
) -> None:
    """Raise InternalError if a graph is invalid after a pass.

    Args:
        graph: result of the pass.
        name: the pass.
        level: as for InternalError.
        before: the graph before the pass, in which bodies may hide names.
    """
    fault = fault_of(graph)
    if fault and before is not None:
        fault = fault_of(graph, hidden_in(before))
    if fault:
        raise InternalError(name, fault, level)


def check_types(
    model: onnx.ModelProto,
    original: onnx.ModelProto,
    name: str,
    level: int | None = None,
    before: types.Interface | None = None,
) -> None:
    """Raise InternalError if a pass left a wrong type, or changed inputs or outputs of the model.

    If types of the original model contradict each other, that is its author's fault: lowering
    refuses it and names the node.

    Args:
        model: result of the pass.
        original: a model before this pass.
        name: the pass.
        level: as for InternalError.
        before: inputs and outputs that the pass has to keep, by default the original's.
    """
    fault = types.changed_interface(
        before or types.interface_of(original.graph), types.interface_of(model.graph)
    )
    if not fault:
        fault = types.fault_of(model)
        if fault and types.fault_of(original, is_strict=True):
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
    """Return the model that a pass made from another one, once it is verified.

    Args:
        before: the model before the pass.
        after: the model after the pass.
        name: the pass.
        level: as for InternalError.
        keeps_dtypes: the pass may not change the dtype of an input or output.

    Raises:
        InternalError: if the model is invalid.
    """
    if after is not before:
        check_graph(after.graph, name, level, before.graph)
        # A declaration that had to be believed may turn out wrong when more is known.
        if is_thorough() and not declarations.is_marked(before):
            interface = types.interface_of(before.graph, keeps_dtypes)
            check_types(after, before, name, level, interface)
    return after
