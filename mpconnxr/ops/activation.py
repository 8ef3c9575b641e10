"""activation: out = op(x), element by element, with up to three constants c, d, e.

Serves LeakyRelu Elu Celu Selu ThresholdedRelu Shrink HardSigmoid HardSwish Sigmoid Swish Softplus
Softsign Mish Gelu (all opsets).

    x, out  float32 or float64; may be the same memory
    params  op (index into _OPS), then the bits of its constants as float32
On float32 LeakyRelu gives the same bits in every form. Raises ModelError. A step allocates only
what float arithmetic does (boxed floats), LeakyRelu of float32 nothing where viper is.
"""

import struct
from array import array

from .. import forms
from ..parameters import block
from ._float_math import scope
from ._inline import ITEMS_WITH_CONSTANTS, Items, compile_loop, is_float

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


def prepare(node):
    n_constants = len(node.params) - 1
    node.require(0 <= n_constants <= _MAX_CONSTANTS, "params")
    node.expect(1, 1, n_constants + 1)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x)
    node.require(0 <= node.params[0] < len(_OPS), "operator")
    node.require(is_float(node, x) and x.nelem == out.nelem, "dtype or size")
    node.expect_dtype(x.dtype, out)
    constants = array("f", [0.0] * _MAX_CONSTANTS)
    for i in range(n_constants):
        constants[i] = struct.unpack("<f", struct.pack("<i", node.params[1 + i]))[0]
    if node.params[0] == _LEAKY and x.dtype == "float32":
        return x.nelem, _Leaky(x.data, constants, out.data).step
    loop = compile_loop(ITEMS_WITH_CONSTANTS, _OPS[node.params[0]], scope())
    return x.nelem, Items(loop, x.data, constants, out.data, block(0, 0)).step


class _Leaky:
    """PRelu with one slope."""

    def __init__(self, x, slope, out):
        self.x, self.slope, self.out = x, slope, out
        self.p = block(0, 0, 1, 0, 0, 0, 0, 1, 0, 1)
        self.loop = forms.get("mul").mul32

    def step(self, lo, hi):
        self.p[0] = self.p[6] = lo
        self.p[8] = hi - lo
        self.loop(self.x, self.slope, self.out, self.p)
