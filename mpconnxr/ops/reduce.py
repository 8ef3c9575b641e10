"""reduce: one value for the items along an axis.

    out[o, i] = OP over k of x[o, k, i]

Serves ReduceSum, ReduceMean, ReduceMax, ReduceMin, ReduceProd, ReduceL1, ReduceL2, ReduceLogSum,
ReduceLogSumExp, ReduceSumSquare and the Global pools (all opsets; the converter brings the axes
together). An empty set gives the operation's identity, a mean NaN.

    x      float32, float64 or any integer dtype; bool for max and min  (outer, n, inner)
    out    same dtype (outer, inner)
Integers wrap around; their means and roots are cut towards zero; they have no log. Max and min of
floats are NaN where one is there. Of float32 all but prod, log_sum_exp and power 3 and more, for
which the converter has other steps, are computed on the bits: sums of integers, rounded once (see
loops/sums), the same bits in every form, and where viper is a step allocates nothing. Else it
allocates only what arithmetic does (boxed floats, integers of more than 30 bits). Raises
ModelError.
"""

from array import array

from .. import forms
from ..parameters import block
from ..tensor import range_of
from ._wrap import bits_of

# params
_OP = const(0)  # 0 sum, 1 mean, 2 max, 3 min, 4 prod, 5 log_sum, 6 log_sum_exp, 7 sum_square,
#     8 norm: (sum of abs(x) ** power) ** (1 / power), for integers power 1 or 2
_OUTER = const(1)
_N = const(2)
_INNER = const(3)
_POWER = const(4)  # of the operation `norm`
_N_PARAMS = const(5)

_SUM, _MEAN, _MAX, _MIN, _PROD, _LOG_SUM, _LOG_SUM_EXP, _SUM_SQUARE, _NORM = range(9)
_INF = float("inf")


def prepare(node):
    node.expect(1, 1, _N_PARAMS)
    x, out = node.inputs[0], node.outputs[0]
    node.expect_dtype(x.dtype, out)
    op, outer, n, inner, power = node.extents(0, _N_PARAMS)
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
        step.bind_float(op)
    else:
        node.require(op not in (_LOG_SUM, _LOG_SUM_EXP) and power <= 2, "operation for integers")
        node.require(x.dtype != "bool" or op in (_MAX, _MIN), "operation for bool")
        step.bind_int(op, limits)
    return out.nelem, step.step


class _Reduce:
    """The extent is outputs: outer x inner."""

    def __init__(self, x, out, shape):
        self.x, self.out = x.data, out.data
        self.p = block(0, 0, *shape)
        self.w = self.x
        self.finish = None
        self.loops = forms.get("reduce")

    def bind_float(self, op):
        loops, power = self.loops, self.p[4]
        by_op = {_PROD: loops.prod_float, _LOG_SUM_EXP: loops.log_sum_exp}
        by_op[_MAX], by_op[_MIN] = loops.largest, loops.smallest
        self.loop = by_op.get(op, loops.sum_float)
        if op in (_MAX, _MIN):
            self.w = array("f", [_INF if op == _MIN else -_INF])
        elif op == _MEAN:
            self.finish = loops.mean
        elif op == _LOG_SUM:
            self.finish = loops.log
        elif op == _NORM and power > 1:
            self.finish = loops.root

    def bind_int(self, op, limits):
        loops, power = self.loops, self.p[4]
        by_op = {_PROD: loops.prod_int, _MAX: loops.largest, _MIN: loops.smallest}
        self.loop = by_op.get(op, loops.sum_int)
        if op in (_MAX, _MIN):
            limit = limits[0 if op == _MAX else 1]
            # an item of 64 bits takes heap, whatever it is
            code = ("q" if limit < 0 else "Q") if abs(limit) >> 31 else "i"
            self.w = array(code, [limit])
        else:
            rest = bits_of(limits) + [op == _MEAN, op == _NORM and power == 2]
            self.p = block(*list(self.p) + rest)

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.w, self.out, self.p)
        if self.finish:
            self.finish(self.out, self.w, self.out, self.p)
