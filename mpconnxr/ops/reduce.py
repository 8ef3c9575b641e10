"""reduce: one value for the elements along an axis.

    out[o, i] = OP over k of x[o, k, i]

Serves ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceLogSum,
ReduceLogSumExp, ReduceSumSquare and the Global pools (all opsets; the converter merges the axes).
An empty set gives the operation's identity; its mean is NaN.

    x      float32, float64 or any integer dtype; bool for max and min  (outer, n, inner)
    out    same dtype (outer, inner)

Integers wrap around; their means and roots are truncated; they have no log. Max and min of floats
are NaN if any element is. float32 is computed on the bits, except for prod, log_sum_exp and powers
from 3 on, for which the converter has other steps: sums are integers, rounded once (see
loops/sums), with the same bits in every form, and a run allocates nothing where viper runs.
Otherwise it allocates only boxed floats and integers of more than 30 bits. Raises ModelError.
"""

from .. import forms
from ..blocks import block
from ..build.calls import wrap_bits
from ..tensor import range_of

# params
_OP = const(0)  # 0 sum, 1 mean, 2 max, 3 min, 4 prod, 5 log_sum, 6 log_sum_exp, 7 sum_square,
#     8 norm: (sum of abs(x) ** power) ** (1 / power), for integers power 1 or 2
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_POWER = const(4)  # exponent of operation norm
_N_PARAMS = const(5)

_SUM, _MEAN, _MAX, _MIN, _PROD, _LOG_SUM, _LOG_SUM_EXP, _SUM_SQUARE, _NORM = range(9)
_INF = float("inf")

CALLS = True


def prepare(node, calls):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    op, outer, n, inner, power = node.extents(0, _N_PARAMS)
    node.require(op <= _NORM, "operation")
    node.require(outer * n * inner == x.nelem and outer * inner == out.nelem, "sizes")
    if out.nelem == 0:
        return
    if op == _SUM_SQUARE:
        power = 2
    elif op == _NORM:
        node.require(power >= 1, "power")
    else:
        power = 0
    shape = n, inner, power
    limits = range_of(x.dtype)
    if x.dtype == "float32" and n and op not in (_PROD, _LOG_SUM_EXP) and power <= 2:
        return _emit_float32(calls, x, out, shape, op)
    if limits is None:
        node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    else:
        node.require(op not in (_LOG_SUM, _LOG_SUM_EXP) and power <= 2, "operation for integers")
        node.require(x.dtype != "bool" or op in (_MAX, _MIN), "operation for bool")
    emit = _emit_extremes if op in (_MAX, _MIN) else _emit_integers if limits else _emit_floats
    emit(calls, x, out, shape, op, limits)


def _emit_extremes(calls, x, out, shape, op, limits):
    n, inner, _ = shape
    code, limit = "f", _INF if op == _MIN else -_INF
    if limits:
        limit = limits[0 if op == _MAX else 1]
        # a 64-bit element takes heap, whatever its value
        code = ("q" if limit < 0 else "Q") if abs(limit) >> 31 else "i"
    x, w, results = calls.place(x), calls.constants(code, [limit]), calls.place(out)
    loops = forms.get("reduce")
    loop = loops.largest if op == _MAX else loops.smallest
    for start, end in calls.parts(out.nelem, n):
        p = block("reduce.largest", start=start, end=end, length=n, inner=inner)
        calls.call(loop, x, w, results, p)


def _emit_integers(calls, x, out, shape, op, limits):
    n, inner, power = shape
    signed_bits, bits = wrap_bits(limits)
    x, results, loops = calls.place(x), calls.place(out), forms.get("reduce")
    loop = loops.prod_int if op == _PROD else loops.sum_int
    for start, end in calls.parts(out.nelem, n):
        p = block(
            "reduce.sum_int",
            start=start,
            end=end,
            length=n,
            inner=inner,
            power=power,
            signed_bits=signed_bits,
            bits_per_element=bits,
            is_mean=op == _MEAN,
            is_root=op == _NORM and power == 2,
        )
        calls.call(loop, x, None, results, p)


def _emit_floats(calls, x, out, shape, op, _):
    n, inner, power = shape
    x, results, loops = calls.place(x), calls.place(out), forms.get("reduce")
    by_op = {_PROD: loops.prod_float, _LOG_SUM_EXP: loops.log_sum_exp}
    loop = by_op.get(op, loops.sum_float)
    for start, end in calls.parts(out.nelem, n):
        p = block("reduce.sum_float", start=start, end=end, length=n, inner=inner, power=power)
        calls.call(loop, x, None, results, p)
        if op == _MEAN:
            p = block("reduce.mean", start=start, end=end, mean_length=n)
            calls.call(loops.mean, results, None, results, p)
        elif op == _LOG_SUM:
            p = block("reduce.log", start=start, end=end)
            calls.call(loops.log, results, None, results, p)
        elif op == _NORM and power > 1:
            p = block("reduce.root", start=start, end=end, length=n, inner=inner, power=power)
            calls.call(loops.root, results, None, results, p)


def _emit_float32(calls, x, out, shape, op):
    """Emit the calls of an operation on the bits of floats: loops/sums, loops/extremes.

    shape is (n, inner, power).
    """
    n, inner, power = shape
    elements, words, sums = calls.place(x, "i"), calls.place(out, "i"), calls.place(out)
    if op in (_MAX, _MIN):
        for start, end in calls.parts(out.nelem, n):
            p = block(
                "extremes",
                start=start,
                end=end,
                length=n,
                inner=inner,
                is_minimum=op == _MIN,
            )
            calls.call(forms.get("extremes").extreme32, elements, None, words, p)
        return
    beyond = 0
    while n >> 15 + beyond:
        beyond += 1
    divisor = calls.constants("f", [n]) if op == _MEAN else None
    for start, end in calls.parts(out.nelem, n):
        p = block(
            "sums",
            start=start,
            end=end,
            length=n,
            inner=inner,
            power=power,
            extra_bits=beyond,
        )
        calls.call(forms.get("sums").sum32, elements, None, words, p)
        if op == _MEAN:
            p = block(
                "div",
                x_start=start,
                x_row_stride=0,
                x_stride=1,
                w_start=0,
                w_row_stride=0,
                w_stride=0,
                out_start=start,
                rows=1,
                columns=end - start,
            )
            calls.call(forms.get("div").div32, sums, divisor, sums, p)
        elif op == _LOG_SUM:
            p = block("log", start=start, end=end)
            calls.call(forms.get("log").log32, words, None, words, p)
        elif op == _NORM and power == 2:
            p = block("root", start=start, end=end)
            calls.call(forms.get("root").sqrt32, sums, None, sums, p)
