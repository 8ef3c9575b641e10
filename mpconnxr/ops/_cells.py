"""Cells of lstm, gru and rnn without Python's floats: calls of loops over parts of the scratch.

A cell is made of sums, products and functions of n items, each in float32, rounded as numpy does.
Places are items of the scratch; a negative one, STATE - k, is k items behind the sequence's h.
For Softplus, Softsign, Elu and ThresholdedRelu there are no loops: see MISSING.
"""

import struct
from array import array

from .. import forms
from ..parameters import block

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
        p = block(0, 0, 0, a, 0, 1, out, 1, n, 1)
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
            self._items(forms.get("relu").relu32, out, n)
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

    def _pair(self, loop, a, w, b, b_step, out, n, flag=0):
        p = block(a, 0, 1, b, 0, b_step, out, 1, n, flag)
        self.call(loop, self.floats, w, self.floats, p, (0, 3, 6))

    def _gate(self, at, out, n, is_tanh):
        loop = forms.get("gates").gate32
        self.call(loop, self.bits, self.bits, self.bits, block(at, n, out, is_tanh), (0, 2))

    def _cut(self, at, n, low, high):
        limits = struct.unpack("<2i", struct.pack("<2f", low, high))
        self._items(forms.get("clip").clip32, at, n, *limits)

    def _items(self, loop, at, n, *rest):
        end = at - n if at < 0 else at + n
        self.call(loop, self.bits, self.bits, self.bits, block(at, end, *rest), (0, 1))


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
