"""reduce: one value for the items along an axis.

    out[o, i] = OP over k of x[o, k, i]

Serves ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceLogSum,
ReduceLogSumExp, ReduceSumSquare and the Global pools (all opsets; the converter brings the axes
together). An empty set gives the operation's identity, a mean NaN.

    x      float32, float64 or any integer dtype; bool for max and min  (outer, n, inner)
    out    same dtype (outer, inner)
    params op, outer, n, inner, power (of the operation `norm`)
           op: 0 sum, 1 mean, 2 max, 3 min, 4 prod, 5 log_sum, 6 log_sum_exp, 7 sum_square,
           8 norm: (sum of abs(x) ** power) ** (1 / power), for integers power 1 or 2
Integers wrap around; their means and roots are cut towards zero; they have no log. Max and min of
floats are NaN where one is there. Of float32 all but prod, log_sum_exp and power 3 and more are
computed on the bits: sums of integers, rounded once (see loops/sums), the same bits in every form,
and where viper is a step allocates nothing. Else it allocates only what arithmetic does (boxed
floats, integers of more than 30 bits). Raises ModelError.
"""

import math

from .. import forms
from ..parameters import block
from ..tensor import range_of

_SUM, _MEAN, _MAX, _MIN, _PROD, _LOG_SUM, _LOG_SUM_EXP, _SUM_SQUARE, _NORM = range(9)
_INF = float("inf")


def prepare(node):
    node.expect(1, 1, 5)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    op, outer, n, inner, power = node.extents(0, 5)
    node.require(op <= _NORM, "operation")
    node.require(outer * n * inner == x.nelem and outer * inner == out.nelem, "sizes")
    if out.nelem == 0:
        return 0, None
    if op == _SUM_SQUARE:
        power = 2
    elif op == _NORM:
        node.require(power >= 1, "power")
    else:
        power = 0
    step = _Reduce(x, out, (n, inner, power))
    limits = range_of(x.dtype)
    if x.dtype == "float32" and n and op not in (_PROD, _LOG_SUM_EXP) and power <= 2:
        from . import _reduce_bits

        return out.nelem, _reduce_bits.step_of(x, out, (n, inner, power), op)
    if limits is None:
        node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
        step.bind_float(op, n, power)
    else:
        node.require(op not in (_LOG_SUM, _LOG_SUM_EXP) and power <= 2, "operation for integers")
        node.require(x.dtype != "bool" or op in (_MAX, _MIN), "operation for bool")
        step.bind_int(op, limits, n, power)
    return out.nelem, step.step


class _Reduce:
    """The extent is outputs: outer x inner."""

    def __init__(self, x, out, shape):
        self.x, self.out = x.data, out.data
        self.p = block(0, 0, *shape)
        self.w = ()
        self.finish = None
        self.loops = forms.get("reduce")

    def bind_float(self, op, n, power):
        loops = self.loops
        by_op = {_PROD: loops.prod_float, _LOG_SUM_EXP: loops.log_sum_exp}
        by_op[_MAX], by_op[_MIN] = loops.largest, loops.smallest
        self.loop = by_op.get(op, loops.sum_float)
        self.w = (_INF,) if op == _MIN else (-_INF,)
        if op == _MEAN:
            self.finish, self.divisor = self._mean, n
        elif op == _LOG_SUM:
            self.finish = self._log
        elif op == _NORM and power > 1:
            self.finish, self.exponent = self._root, 1.0 / power

    def bind_int(self, op, limits, n, power):
        loops = self.loops
        self.loop = {_PROD: loops.prod_int, _MAX: loops.largest, _MIN: loops.smallest}.get(
            op, loops.sum_int
        )
        if op in (_MAX, _MIN):
            self.w = (limits[0] if op == _MAX else limits[1],)
        else:
            divisor = n if op == _MEAN else 0
            self.w = (-limits[0], limits[1] - limits[0], divisor, op == _NORM and power == 2)

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.w, self.out, self.p)
        if self.finish:
            self.finish(lo, hi)

    def _mean(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.out[lo] / self.divisor if self.divisor else _INF - _INF
            lo += 1

    def _root(self, lo, hi):
        while lo < hi:
            self.out[lo] = self.out[lo] ** self.exponent
            lo += 1

    def _log(self, lo, hi):
        while lo < hi:
            v = self.out[lo]
            if v == 0.0:
                self.out[lo] = -_INF
            else:
                self.out[lo] = math.log(v) if v > 0.0 else _INF - _INF
            lo += 1
