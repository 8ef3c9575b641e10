"""Inline the function bodies of operators that have no lowering.

ONNX defines some operators as functions; bodies for com.microsoft are in ms_bodies.
"""

from __future__ import annotations

import onnx
from onnx import defs, inliner

from ..context import Context
from ..protos import copied, opset_of, set_all
from ..shapes.infer import infer
from . import ms_bodies

_MAX_DEPTH = 4  # of functions whose bodies use functions
_DOMAIN = "mpconnxr.bodies"  # domain of the bodies until they are inlined


def expand(model: onnx.ModelProto, context: Context) -> onnx.ModelProto:
    """Return the model with these operators expanded, in a copy if it has any.

    All values must have types.
    """
    # A body of com.microsoft needs shapes, which may follow from the one before it
    waiting = sum(node.domain == ms_bodies.DOMAIN for node in model.graph.node)
    for _ in range(_MAX_DEPTH + waiting):
        bodies = _bodies(model, context)
        if not bodies:
            return model
        model = infer(_inlined(model, bodies), context)  # the bodies' values have no types yet
    return model


def _bodies(model, context):
    """Return the bodies of the nodes to expand, by the index of the node."""
    graph, operators = model.graph, context.operators
    types = {v.name: v.type for v in [*graph.input, *graph.value_info, *graph.output]}
    for t in graph.initializer:
        types[t.name] = onnx.helper.make_tensor_type_proto(t.data_type, t.dims)
    constants = {t.name: t for t in graph.initializer}
    for node in graph.node:
        if node.op_type == "Constant" and node.attribute[0].name == "value":
            constants[node.output[0]] = node.attribute[0].t
    bodies = {}
    for i, node in enumerate(graph.node):
        body = None
        if node.domain == ms_bodies.DOMAIN and not operators.is_own(node.domain, node.op_type):
            body = ms_bodies.body(node, types, opset_of(model, ""), constants)
        elif not _is_lowered(node, types, context):
            body = _body(node, opset_of(model, node.domain), types)
        if body is not None and body.node:  # empty if the types do not suffice
            bodies[i] = body
    return bodies


def _is_lowered(node, types, context):
    lowering = context.operators.lowering_of(node.domain, node.op_type)
    if lowering is None or lowering.takes is None:
        return lowering is not None
    return not context.expands and lowering.takes(node, types)


def _body(node, version, types):
    """Return the definition of a node at this opset for these input types, None if it has none."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    try:
        schema = defs.get_schema(node.op_type, version, domain)
    except defs.SchemaError:
        return None
    if not schema.has_function and not schema.has_context_dependent_function:
        return None
    _write_defaults(node, schema)
    if schema.has_function:
        return _function(
            schema.get_function_with_opset_version, version, schema.function_opset_versions
        )
    input_types = [types.get(name, onnx.TypeProto()).SerializeToString() for name in node.input]
    return _function(
        lambda v: schema.get_context_dependent_function_with_opset_version(
            v, node.SerializeToString(), input_types
        ),
        version,
        schema.context_dependent_function_opset_versions,
    )


def _function(get, version, versions):
    """Return the newest body that is not newer than the opset, else the oldest one."""
    chosen = max((v for v in versions if v <= version), default=min(versions))
    return onnx.FunctionProto.FromString(get(chosen))


def _write_defaults(node, schema):
    """Add omitted attributes: the inliner drops a body's reference to an absent attribute."""
    present = {a.name for a in node.attribute}
    for name, attribute in schema.attributes.items():
        if name not in present and attribute.default_value.type:
            node.attribute.append(attribute.default_value)


def _inlined(model, bodies):
    """Return a copy of the model with nodes replaced by the nodes of their bodies.

    bodies: {number of a node: its function}.
    """
    copy = copied(model)
    copy.opset_import.append(onnx.helper.make_opsetid(_DOMAIN, 1))
    for i, body in bodies.items():
        node = copy.graph.node[i]
        node.domain, node.op_type = _DOMAIN, f"{node.op_type}_{i}"
        body.domain, body.name = node.domain, node.op_type
        _import(copy, body)
        copy.functions.append(body)
    own = [(f.domain, f.name) for f in copy.functions if f.domain == _DOMAIN]
    copy = inliner.inline_selected_functions(copy, own)
    set_all(copy.opset_import, [o for o in copy.opset_import if o.domain != _DOMAIN])
    return copy


def _import(model, body):
    """Make the body import the model's opsets, and the model those that it lacks."""
    for o in body.opset_import:
        version = opset_of(model, o.domain)
        if version:
            o.version = version
        else:
            model.opset_import.append(o)
