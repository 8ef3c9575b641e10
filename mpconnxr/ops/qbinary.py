"""qbinary: sum or product of quantized bytes, element by element, both broadcast to out.

    op 0   out = saturate(round((x - zx) * x_scale / y_scale + (w - zw) * w_scale / y_scale) + zy)
    op 1   out = saturate(round((x - zx) * (w - zw) * (x_scale * w_scale / y_scale)) + zy)

rounded half to even. Serves com.microsoft's QLinearAdd and QLinearMul.

    x, w, out  all uint8 or all int8
Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..parameters import BIAS
from ._runs import blocks, operands

# params
_OP = const(0)  # 0 a sum, 1 a product
_NUMBERS = const(1)  # [8 - op] signed; parameters of loops/qbinary after flip; constant without
#     BIAS; zero points are unsigned (int8 + 128)
# then runs: [_runs]

CALLS = True

_SUM = 0


def prepare(node, calls):
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
    runs = operands(node, _NUMBERS + 8 - op, x.nelem, w.nelem, out.nelem)
    if not runs:
        return
    flip = 128 if x.dtype == "int8" else 0
    x, w, out = [calls.place(t, "B") for t in (x, w, out)]
    loops = forms.get("qbinary")
    loop = loops.qadd8 if op == _SUM else loops.qmul8
    made = _sum if op == _SUM else _product
    for p in blocks(calls, *runs):
        calls.call(loop, x, w, out, made(p, flip, numbers))


def _check(node, op, numbers):
    """Check that products with the factors stay within 31 bits."""
    if op == _SUM:
        a, b, _, a_low, b_low, low, bits, zero = numbers
        node.require(max(a, b) < 1 << 21 and max(a_low, b_low, low) < 1024, "factors")
        node.require(16 <= bits <= 20 and zero < 256, "point or zero point")
    else:
        zx, zw, _, shift, high, low, zero = numbers
        node.require(max(zx, zw, zero) < 256, "zero points")
        node.require(shift < 26 and numbers[2] == 1 << 25 >> shift, "shift or limit")
        node.require(high < 1 << 16 and low < 1 << 15, "multiplier")


def _sum(p, flip, numbers):
    """Return the block of qadd8; p has its rows, as _runs.blocks yields them."""
    x_start, x_row_stride, x_stride, w_start, w_row_stride, w_stride, out_start, rows, columns = p
    x_factor, w_factor, constant, x_low, w_low, constant_low, point, zero = numbers
    return block(
        "qbinary.qadd8",
        x_start=x_start,
        x_row_stride=x_row_stride,
        x_stride=x_stride,
        w_start=w_start,
        w_row_stride=w_row_stride,
        w_stride=w_stride,
        out_start=out_start,
        rows=rows,
        columns=columns,
        flip=flip,
        x_factor=x_factor,
        w_factor=w_factor,
        constant=constant - BIAS,
        x_factor_low=x_low,
        w_factor_low=w_low,
        constant_low=constant_low,
        point=point,
        out_zero_point=zero,
    )


def _product(p, flip, numbers):
    """Return the block of qmul8; p as for _sum."""
    x_start, x_row_stride, x_stride, w_start, w_row_stride, w_stride, out_start, rows, columns = p
    x_zero, w_zero, limit, shift, high, low, zero = numbers
    return block(
        "qbinary.qmul8",
        x_start=x_start,
        x_row_stride=x_row_stride,
        x_stride=x_stride,
        w_start=w_start,
        w_row_stride=w_row_stride,
        w_stride=w_stride,
        out_start=out_start,
        rows=rows,
        columns=columns,
        flip=flip,
        x_zero_point=x_zero,
        w_zero_point=w_zero,
        limit=limit,
        shift=shift,
        multiplier_high=high,
        multiplier_low=low,
        qmul8_out_zero_point=zero,
    )
