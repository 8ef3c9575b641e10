"""com.microsoft's Gelu, BiasGelu, FastGelu, QuickGelu -> kernel activation."""

from __future__ import annotations

from . import lowers
from ._elementwise import emit_binary, emit_unary
from ._microsoft import MS, like

# Operator -> the kernel's op; QuickGelu is x * sigmoid(alpha * x).
_OPS = {"Gelu": "gelu", "BiasGelu": "gelu", "FastGelu": "gelu_tanh", "QuickGelu": "swish"}


@lowers(*_OPS, domain=MS, infer=like(0))
def lower_gelu(node):
    """The second input, if there is one, is added to x first."""
    x, bias, out = node.inputs[0], node.input(1), node.outputs[0]
    if bias is not None:
        total = node.temp(x.dtype, x.shape)
        emit_binary(node, "add", x, bias, total)
        x = total
    constants = [node.attr("alpha", 1.702)] if node.op == "QuickGelu" else []
    emit_unary(node, _OPS[node.op], x, out, *constants)
