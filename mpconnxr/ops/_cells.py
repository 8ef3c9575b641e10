"""Cells of lstm, gru and rnn without Python's floats: calls of loops over parts of the scratch.

A cell is made of sums, products and functions of n items, each in float32, rounded as numpy does.
Places are items of the scratch; a negative one, STATE - k, is k items behind the sequence's h.
For Softplus, Softsign, Elu and ThresholdedRelu there are no loops: see MISSING.
"""

import struct
from array import array

from .. import forms
from ..blocks import block
from ..loops._words import _OUT_START, _W_START, _X_START
from ..loops.clip import _END, _START
from ..loops.gates import _OUT_START as _GATE_OUT_START
from ..loops.gates import _X_START as _GATE_X_START

STATE = -1
MISSING = (5, 8, 9, 10)  # kinds of gates
_RELU, _TANH, _SIGMOID, _AFFINE, _LEAKY, _, _SCALED_TANH, _HARD_SIGMOID = range(8)


class Calls:
    """What a cell calls, in order. floats, bits: the scratch."""

    def __init__(self, floats, bits):
        self.floats, self.bits, self.list = floats, bits, []
        self._add = forms.get("add").add32
        self._mul = forms.get("mul").mul32
        self._one = array("f", [1.0])

    def run(self, h):
        for call in self.list:
            call.run(h)

    def call(self, loop, x, w, out, p, indexes=()):
        """indexes: of p where places are."""
        self.list.append(_Call(loop, x, w, out, p, indexes))

    def add(self, a, b, out, n):
        self._pair(self._add, a, self.floats, b, 1, out, n)

    def mul(self, a, b, out, n, weights=None):
        """With weights, b is an item of these."""
        self._pair(self._mul, a, weights or self.floats, b, 1, out, n)

    def rest(self, a, out, n):
        """1 - a"""
        p = block(
            "add",
            x_start=0,
            x_row_stride=0,
            x_stride=0,
            w_start=a,
            w_row_stride=0,
            w_stride=1,
            out_start=out,
            rows=1,
            columns=n,
            is_difference=1,
        )
        self.call(self._add, self._one, self.floats, self.floats, p)

    def function(self, about, at, out, n):
        """out = f(at). about: kind (see _gates), alpha, beta, clip."""
        kind, alpha, beta, clip = about
        if out != at and (clip or kind not in (_TANH, _SIGMOID)):
            self._pair(self._mul, at, self._one, 0, 0, out, n)
            at = out
        if clip:
            self._cut(out, n, -clip, clip)
        if kind == _RELU:
            self._items(forms.get("relu").relu32, block("relu", start=out, end=_end(out, n)))
        elif kind == _LEAKY:
            self._pair(self._mul, out, array("f", [alpha]), 0, 0, out, n, 1)
        elif kind in (_AFFINE, _HARD_SIGMOID):
            self._pair(self._mul, out, array("f", [alpha]), 0, 0, out, n)
            self._pair(self._add, out, array("f", [beta]), 0, 0, out, n)
            if kind == _HARD_SIGMOID:
                self._cut(out, n, 0.0, 1.0)
        elif kind == _SCALED_TANH:
            self._pair(self._mul, at, array("f", [beta]), 0, 0, out, n)
            self._gate(out, out, n, 1)
            self._pair(self._mul, out, array("f", [alpha]), 0, 0, out, n)
        else:
            self._gate(at, out, n, int(kind == _TANH))

    def _pair(self, loop, a, w, b, b_step, out, n, is_prelu=0):
        """Call mul32, or add32, whose flag has the place of is_prelu."""
        p = block(
            "mul",
            x_start=a,
            x_row_stride=0,
            x_stride=1,
            w_start=b,
            w_row_stride=0,
            w_stride=b_step,
            out_start=out,
            rows=1,
            columns=n,
            is_prelu=is_prelu,
        )
        self.call(loop, self.floats, w, self.floats, p, (_X_START, _W_START, _OUT_START))

    def _gate(self, at, out, n, is_tanh):
        loop = forms.get("gates").gate32
        p = block("gates", x_start=at, elements=n, out_start=out, is_tanh=is_tanh)
        self.call(loop, self.bits, self.bits, self.bits, p, (_GATE_X_START, _GATE_OUT_START))

    def _cut(self, at, n, low, high):
        low, high = struct.unpack("<2i", struct.pack("<2f", low, high))
        p = block("clip", start=at, end=_end(at, n), low=low, high=high)
        self._items(forms.get("clip").clip32, p)

    def _items(self, loop, p):
        """Call clip32, or relu32, whose parameters begin the same."""
        self.call(loop, self.bits, self.bits, self.bits, p, (_START, _END))


def _end(at, n):
    """Return the place behind n items. One below 0 counts backwards."""
    return at - n if at < 0 else at + n


class _Call:
    """A call of a loop, and where in p the sequence's state counts."""

    def __init__(self, loop, x, w, out, p, indexes):
        self.loop, self.x, self.w, self.out, self.p = loop, x, w, out, p
        self.moving = []
        for i in indexes:
            if p[i] < 0:
                self.moving += [i, STATE - p[i]]

    def run(self, h):
        if self.moving:
            self._move(h)
        self.loop(self.x, self.w, self.out, self.p)

    def _move(self, h):
        moving, i = self.moving, 0
        while i < len(moving):
            self.p[moving[i]] = h + moving[i + 1]
            i += 2
