"""Kernel normalize for float32 in integers: see loops/moments. Imported only where needed."""

from .. import forms
from ..blocks import block
from ..loops.moments import _FACTORS, _PAIRS_X_START, _ROW

MOST = 0x7FFF  # elements of a row


def emit(calls, tensors, y, shape, spread):
    """Emit calls for all rows of x, tensors[0]; scale and bias follow as far as present.

    shape is (rows, n, centred, bits of epsilon), spread (period, step, width), as kernel normalize
    has them.
    """
    x, factors = tensors[0], [calls.place(t) for t in tensors[1:]]
    (n_rows, n, centred, epsilon), (period, step, width) = shape, spread
    # Elements that share a factor form a row of these loops; otherwise all elements form one.
    rows, columns, by_row = (n // width, width, 1) if width > 1 else (1, n, 0)
    if not factors:  # without factors, nothing bounds period and step
        period, step = 1, 0
    loops = forms.get("moments")
    needs = [loops.centre, loops.squares, loops.inverse, loops.scaled]
    needs += [calls.later("moments_special", "row"), calls.part()]
    needs += [calls.place(x, "i"), calls.place(y, "i"), calls.place(x), calls.place(y)]
    needs += [calls.part(_PAIRS_X_START, _FACTORS)]
    if factors:
        needs += [forms.get("mul").mul32, factors[0]]
    if len(factors) > 1:
        needs += [forms.get("add").add32, factors[1]]
    for row, row_end in calls.parts(n_rows, n):
        p = block(
            "moments.rows",
            x_start=0,
            columns=n,
            is_centred=centred,
            epsilon=epsilon,
            exponent=0,
            mean=0,
            mean_rest=0,
            headroom=0,
            sum_high=0,
            sum_middle=0,
            sum_low=0,
            inverse=0,
            product_exponent=0,
            row=row,
            row_end=row_end,
            period=period,
            factor_row_stride=step,
            pairs_x_start=0,
            pairs_x_row_stride=width * by_row,
            pairs_x_stride=1,
            pairs_w_start=0,
            pairs_w_row_stride=by_row,
            pairs_w_stride=1 - by_row,
            pairs_out_start=0,
            pairs_rows=rows,
            pairs_columns=columns,
            pairs_kind=0,
            factors=len(factors),
        )
        calls.drive(loops.rows, p, needs, (_ROW,))
