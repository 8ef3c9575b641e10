"""What the body of a Loop says of its end."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from ..external_weights import array_of


def always(body: onnx.GraphProto, condition: str, known: Mapping[str, onnx.TensorProto]) -> bool:
    """True if the condition is true at the start and the body hands it on or sets it.

    condition: name of the first one, "" where it is left out; known: constants outside, by name.
    """
    if condition and (condition not in known or not _is_true(known[condition])):
        return False
    makers = {name: node for node in body.node for name in node.output}
    constants = {t.name: t for t in body.initializer} | dict(known)
    name = body.output[0].name
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    if name == body.input[1].name:
        return True
    if name in makers and makers[name].op_type == "Constant":
        value = next((a.t for a in makers[name].attribute if a.name == "value"), None)
        return value is not None and _is_true(value)
    return name in constants and _is_true(constants[name])


def _is_true(tensor):
    return bool(array_of(tensor).all())
