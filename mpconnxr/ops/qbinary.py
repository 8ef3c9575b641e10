"""qbinary: sum or product of quantized bytes, element by element, both broadcast to out.

    op 0   out = limited(round((x - zx) * x_scale / y_scale + (w - zw) * w_scale / y_scale) + zy)
    op 1   out = limited(round((x - zx) * (w - zw) * (x_scale * w_scale / y_scale)) + zy)

rounded to even from the middle. Serves com.microsoft's QLinearAdd and QLinearMul.

    x, w, out  all uint8 or all int8
Raises ModelError. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block
from ._runs import Runs

# params
_OP = const(0)  # 0 a sum, 1 a product
_NUMBERS = const(1)  # [8 - op] signed; those of loops/qbinary from p[10] on, the constant
#     without BIAS; zero points are unsigned (int8 + 128)
# then runs: [_runs]

_SUM = 0


def prepare(node):
    node.require(len(node.params) > 0, "params")
    node.expect(2, 1, len(node.params))
    x, w, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.over(out, x)
    node.over(out, w)
    node.expect_dtype(x.dtype, w, out)
    node.require(x.dtype in ("uint8", "int8"), "dtype " + x.dtype)
    op = node.params[_OP]
    node.require(0 <= op < 2, "operation")
    node.require(len(node.params) > _NUMBERS + 8 - op, "params")
    numbers = node.signed(_NUMBERS, 8 - op)
    if op == _SUM:
        numbers[2] += BIAS
    node.require(min(numbers) >= 0, "numbers")
    _check(node, op, numbers)
    runs = Runs(node, _NUMBERS + 8 - op, x.nelem, w.nelem, out.nelem)
    if runs.n:
        loops = forms.get("qbinary")
        runs.p = block(*list(runs.p) + [128 if x.dtype == "int8" else 0] + numbers)
        loop = loops.qadd8 if op == _SUM else loops.qmul8
        runs.bind(loop, x.view("B"), w.view("B"), out.view("B"))
    return runs.n, runs.step


def _check(node, op, numbers):
    """Factors whose products stay within 31 bits."""
    if op == _SUM:
        a, b, _, a_low, b_low, low, bits, zero = numbers
        node.require(max(a, b) < 1 << 21 and max(a_low, b_low, low) < 1024, "factors")
        node.require(16 <= bits <= 20 and zero < 256, "point or zero point")
    else:
        zx, zw, _, shift, high, low, zero = numbers
        node.require(max(zx, zw, zero) < 256, "zero points")
        node.require(shift < 26 and numbers[2] == 1 << 25 >> shift, "shift or limit")
        node.require(high < 1 << 16 and low < 1 << 15, "multiplier")
