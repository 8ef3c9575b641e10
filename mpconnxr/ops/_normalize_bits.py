"""Kernel normalize for float32 on the bits: see loops/moments. Imported where it is used."""

from .. import forms
from ..parameters import block

MOST = 0x7FFF  # items of a row


class Rows:
    """The extent is rows. shape: n, centred, bits of epsilon; spread: period, step, block."""

    def __init__(self, tensors, y, shape, spread):
        x, factors = tensors[0], [t.data for t in tensors[1:]]
        n, (period, step, width) = shape[0], spread
        # Items that share a factor are a row of these loops; else all of them are one.
        q = [0, 0, 1, 0, 0, 1, 0, 1, n, 0]
        if width > 1:
            q = [0, width, 1, 0, 1, 0, 0, n // width, width, 0]
        if not factors:  # then nothing bounds these
            period, step = 1, 0
        self.p = p = block(0, *shape, *[0] * 11, period, step, *q, len(factors))
        loops = forms.get("moments")
        self.rows = loops.rows
        self.needs = [loops.centre, loops.squares, loops.inverse, loops.scaled]
        self.needs += [forms.later("moments_special", "row"), p, x.view("i"), y.view("i")]
        self.needs += [x.data, y.data, memoryview(p)[17:27]]
        if factors:
            self.needs += [forms.get("mul").mul32, factors[0]]
        if len(factors) > 1:
            self.needs += [forms.get("add").add32, factors[1]]

    def step(self, lo, hi):
        p = self.p
        p[13] = lo
        p[14] = hi
        self.rows(p, self.needs)
