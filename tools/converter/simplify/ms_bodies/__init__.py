"""Give onnxruntime's own operators (com.microsoft) function bodies in ONNX's operators.

A file holds a family of operators, which it declares by @expands (see building.py). The files are
imported when the first such operator is met, so other conversions do not pay for them. A body is
tried before a lowering: its builder returns None for nodes that a lowering serves.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache

import onnx

from ...errors import Problem
from . import building

DOMAIN = building.DOMAIN

# Key of a node's metadata that says why the node got no body. The metadata survive the passes in
# between; `reason_of` reads them when lowering, or load/missing.py, refuses the node.
_REASON = "mpconnxr.reason"


def body(
    node: onnx.NodeProto,
    types: Mapping[str, onnx.TypeProto],
    version: int,
    constants: Mapping[str, onnx.TensorProto],
) -> onnx.FunctionProto | None:
    """Return a node as a function of ONNX's operators; None if it has no body.

    If the attributes or inputs of the node prevent a body, `reason_of` returns why from then on.

    Args:
        node: the node.
        types: types of its inputs.
        version: opset of ai.onnx.
        constants: contents of constant inputs by name.
    """
    _load_all()
    expansion = building.BODIES.get(node.op_type)
    if expansion is None:
        return None
    try:
        if version < expansion.oldest:
            raise Problem(
                f"needs opset {expansion.oldest} of ai.onnx", "export with a newer opset"
            )
        function = expansion.build(building.Body(node, types, version, constants, expansion))
    except Problem as e:
        _note(node, e.reason)
        return None
    except (ArithmeticError, LookupError, TypeError, ValueError) as e:
        # a body relies on what the operator's definition promises of inputs and attributes
        error = f"{type(e).__name__}: {e}"
        _note(node, f"its inputs and attributes do not fit together ({error})")
        return None
    _note(node, "")
    return function


def fixing(node: onnx.NodeProto) -> list[str]:
    """Return the node's inputs whose contents decide a shape."""
    _load_all()
    expansion = building.BODIES.get(node.op_type) if node.domain == DOMAIN else None
    if expansion is None:
        return []
    return [
        name for f, name in zip(expansion.inputs, node.input, strict=False) if f in expansion.fixes
    ]


def reason_of(node: onnx.NodeProto) -> str:
    """Return why the node got no body, "" if no reason is known."""
    return next((p.value for p in node.metadata_props if p.key == _REASON), "")


def _note(node, reason):
    kept = [p for p in node.metadata_props if p.key != _REASON]
    kept += [onnx.StringStringEntryProto(key=_REASON, value=reason)] if reason else []
    if len(kept) != len(node.metadata_props) or reason:
        del node.metadata_props[:]
        node.metadata_props.extend(kept)


@cache
def _load_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
