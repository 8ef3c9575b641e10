"""Kernel normalize for float32 on the bits: see loops/moments. Imported where it is used."""

from .. import forms
from ..parameters import block

MOST = 0x7FFF  # items of a row
_NOT_FINITE = 255


class Rows:
    """The extent is rows. shape: n, centred, bits of epsilon; spread: period, step, block.

    otherwise: makes a step that computes with floats, for rows with inf or nan.
    """

    def __init__(self, tensors, y, shape, spread, otherwise):
        self.x, self.y = tensors[0].view("i"), y.view("i")
        self.n, self.spread, self.otherwise = shape[0], spread, otherwise
        self.p = block(0, *shape, *[0] * 9)
        loops = forms.get("moments")
        self.centre, self.squares = loops.centre, loops.squares
        self.inverse, self.scaled = loops.inverse, loops.scaled
        self.factors, self.floats = [t.data for t in tensors[1:]], y.data
        self.mul = forms.get("mul").mul32 if self.factors else None
        self.add = forms.get("add").add32 if len(self.factors) > 1 else None
        n, width = shape[0], spread[2]
        # Items that share a factor are a row of these loops; else all of them are one.
        self.q = block(0, 0, 1, 0, 0, 1, 0, 1, n, 0)
        if width > 1:
            self.q = block(0, width, 1, 0, 1, 0, 0, n // width, width, 0)

    def step(self, lo, hi):
        while lo < hi:
            self._normalize(lo)
            lo += 1

    def _normalize(self, row):  # few names: a frame of more than 11 words is of the heap
        p, y = self.p, self.y
        p[0] = row * self.n
        self.centre(self.x, y, y, p)
        if p[4] == _NOT_FINITE:
            self.otherwise()(row, row + 1)
            return
        self.squares(y, y, y, p)
        self.inverse(y, y, y, p)
        self.scaled(y, y, y, p)
        if self.mul:
            self._apply(row)

    def _apply(self, row):
        q, y = self.q, self.floats
        q[0] = q[6] = row * self.n
        q[3] = row % self.spread[0] * self.spread[1]
        self.mul(y, self.factors[0], y, q)
        if self.add:
            self.add(y, self.factors[1], y, q)
