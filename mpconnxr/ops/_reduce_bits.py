"""Kernel reduce for float32 on the bits: see loops/sums, loops/extremes."""

from array import array

from .. import forms
from ..parameters import block

_MEAN, _MAX, _MIN, _LOG_SUM, _NORM = 1, 2, 3, 5, 8


def step_of(x, out, shape, op):
    """shape: n, inner, power."""
    n, inner, power = shape
    if op in (_MAX, _MIN):
        loop = forms.get("extremes").extreme32
        return _Reduce(loop, x, out, block(0, 0, n, inner, op == _MIN)).step
    beyond = 0
    while n >> 15 + beyond:
        beyond += 1
    loop = forms.get("sums").sum32
    step = _Reduce(loop, x, out, block(0, 0, n, inner, power, beyond))
    if op == _MEAN:
        step.finish(forms.get("div").div32, out.data, array("f", [n]))
        step.q = block(0, 0, 1, 0, 0, 0, 0, 1, 0, 0)
        return step.mean
    if op == _LOG_SUM:
        step.finish(forms.get("log").log32, out.view("i"))
    elif op == _NORM and power == 2:
        step.finish(forms.get("root").sqrt32, out.data)
    else:
        return step.step
    return step.function


class _Reduce:
    """The extent is outputs: outer x inner."""

    def __init__(self, loop, x, out, p):
        self.loop, self.x, self.out, self.p = loop, x.view("i"), out.view("i"), p

    def finish(self, last, sums, divisor=None):
        self.last, self.sums, self.divisor = last, sums, divisor

    def step(self, lo, hi):
        self.p[0] = lo
        self.p[1] = hi
        self.loop(self.x, self.x, self.out, self.p)

    def function(self, lo, hi):
        self.step(lo, hi)
        self.last(self.sums, self.sums, self.sums, self.p)

    def mean(self, lo, hi):
        self.step(lo, hi)
        self.q[0] = self.q[6] = lo
        self.q[8] = hi - lo
        self.last(self.sums, self.divisor, self.sums, self.q)
