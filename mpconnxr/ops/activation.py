"""activation: out = op(x), element by element, with up to three constants c, d, e.

Serves LeakyRelu Elu Celu Selu ThresholdedRelu Shrink HardSigmoid HardSwish Sigmoid Swish Softplus
Softsign Mish Gelu (all opsets).

    x, out  float32 or float64; may share memory
LeakyRelu of float32 has the same bits in every form and allocates nothing where viper runs. The
others allocate boxed floats. Raises ModelError.
"""

import struct
from array import array

from .. import forms
from ..blocks import block
from ._float_math import scope
from ._inline import ELEMENTS_WITH_CONSTANTS, compile_loop, emit_elements, is_float

# params
_OP = const(0)  # index into _OPS
_CONSTANTS = const(1)  # [*] float

CALLS = True

_MAX_CONSTANTS = 3
_LEAKY = 0
_OPS = (
    "x if x >= 0 else c * x",  # leakyrelu
    "c * x if x > 0 else d * expm1(e * x)",  # elu, celu, selu
    "x if x > c else 0.0",  # thresholdedrelu
    "x + d if x < -c else x - d if x > c else 0.0",  # shrink
    "unit(c * x + d)",  # hardsigmoid
    "x * unit(c * x + d)",  # hardswish
    "sigmoid(x)",
    "x * sigmoid(c * x)",  # swish
    "softplus(x)",
    "x / (1.0 + abs(x))",  # softsign
    "x * tanh(softplus(x))",  # mish
    "gelu(x)",
    "gelu_tanh(x)",
)


def prepare(node, calls):
    n_constants = len(node.params) - _CONSTANTS
    node.require(0 <= n_constants <= _MAX_CONSTANTS, "params")
    node.expect(1, 1, _CONSTANTS + n_constants)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.require(0 <= node.params[_OP] < len(_OPS), "operator")
    node.require(is_float(node, x) and x.nelem == out.nelem, "dtype or size")
    node.expect_dtype(x.dtype, out)
    bits = array("i", [0] * _MAX_CONSTANTS)
    for i in range(n_constants):
        bits[i] = node.params[_CONSTANTS + i]
    is_leaky, n = node.params[_OP] == _LEAKY and x.dtype == "float32", x.nelem
    w = calls.constants("f", struct.unpack("<3f", bits))
    x, out = calls.place(x), calls.place(out)
    if is_leaky:
        _emit_leaky(calls, x, w, out, n)
    else:
        loop = compile_loop(ELEMENTS_WITH_CONSTANTS, _OPS[node.params[_OP]], scope())
        emit_elements(calls, loop, x, w, out, n)


def _emit_leaky(calls, x, slope, out, n):
    """Emit PRelu with a single slope."""
    loop = forms.get("mul").mul32
    for start, end in calls.parts(n):
        p = block(
            "mul",
            x_start=start,
            x_row_stride=0,
            x_stride=1,
            w_start=0,
            w_row_stride=0,
            w_stride=0,
            out_start=start,
            rows=1,
            columns=end - start,
            is_prelu=1,
        )
        calls.call(loop, x, slope, out, p)
