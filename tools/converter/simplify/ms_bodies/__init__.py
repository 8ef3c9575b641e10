"""Function bodies of onnxruntime's operators (com.microsoft) that ONNX's own can express.

A family of operators a file, which declares its bodies with @expands (see building.py). Files are
found by themselves. A body is tried before a lowering: it may give None for what that serves.
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

_REASON = "mpconnxr.reason"  # of a node's metadata: why it got no body


def body(
    node: onnx.NodeProto,
    types: Mapping[str, onnx.TypeProto],
    version: int,
    constants: Mapping[str, onnx.TensorProto],
) -> onnx.FunctionProto | None:
    """What the node is in ONNX's operators of this opset; None if it has no body here.

    Where that cannot be because of what the node has, `reason_of` says it from then on.
    """
    _load_all()
    found = building.BODIES.get(node.op_type)
    if found is None:
        return None
    try:
        if version < found.oldest:
            raise Problem(f"needs opset {found.oldest} of ai.onnx", "export with a newer opset")
        made = found.build(building.Body(node, types, version, constants, found))
    except Problem as e:
        _note(node, e.reason)
        return None
    except (ArithmeticError, LookupError, TypeError, ValueError) as e:
        # a body relies on what the operator's definition promises of inputs and attributes
        error = f"{type(e).__name__}: {e}"
        _note(node, f"its inputs and attributes do not fit together ({error})")
        return None
    _note(node, "")
    return made


def fixing(node: onnx.NodeProto) -> list[str]:
    """The node's inputs that decide a shape."""
    _load_all()
    found = building.BODIES.get(node.op_type) if node.domain == DOMAIN else None
    if found is None:
        return []
    return [name for f, name in zip(found.inputs, node.input, strict=False) if f in found.fixes]


def reason_of(node: onnx.NodeProto) -> str:
    """Why the node got no body; "" if nothing is known."""
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
