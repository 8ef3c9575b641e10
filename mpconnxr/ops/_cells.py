"""Cells of lstm, gru and rnn, as calls of loops on parts of the scratch.

A cell consists of sums, products and functions of n elements, each in float32. Sums and products
are rounded to the nearest; for Sigmoid and Tanh see loops/gates. The activations in MISSING have
no loop: Python computes them with floats, and such a step is not in a table of calls.
"""

import struct

from .. import forms
from ..blocks import block
from ..loops.clip import _END, _START

MISSING = (5, 8, 9, 10)  # kinds of activations, see _recurrent
_RELU, _TANH, _SIGMOID, _AFFINE, _LEAKY, _, _SCALED_TANH, _HARD_SIGMOID = range(8)


class CellMath:
    """Emitter of the calls on one scratch tensor, float32. All starts are in elements of it."""

    def __init__(self, calls, scratch):
        self.calls = calls
        self.floats, self.bits = calls.place(scratch, "f"), calls.place(scratch, "i")
        self._add = forms.get("add").add32
        self._mul = forms.get("mul").mul32
        self._one = calls.constants("f", [1.0])

    def add(self, a, b, out, n):
        """Emit out = a + b."""
        self._pair(self._add, a, self.floats, b, 1, out, n)

    def mul(self, a, b, out, n, weights=None):
        """Emit out = a * b; b is a start in `weights` if that is not None."""
        self._pair(self._mul, a, weights or self.floats, b, 1, out, n)

    def one_minus(self, a, out, n):
        """Emit out = 1 - a."""
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
        self.calls.call(self._add, self._one, self.floats, self.floats, p)

    def function(self, about, at, out, n):
        """Emit out = f(at) for n elements; about is the activation's (kind, alpha, beta, clip)."""
        kind, alpha, beta, clip = about
        if out != at and (clip or kind not in (_TANH, _SIGMOID)):
            self._scale(1.0, at, out, n)
            at = out
        if clip:
            self._cut(out, n, -clip, clip)
        if kind == _RELU:
            self._call(forms.get("relu").relu32, block("relu", start=out, end=out + n))
        elif kind == _LEAKY:
            self._scale(alpha, out, out, n, 1)
        elif kind in (_AFFINE, _HARD_SIGMOID):
            self._scale(alpha, out, out, n)
            self._pair(self._add, out, self.calls.constants("f", [beta]), 0, 0, out, n)
            if kind == _HARD_SIGMOID:
                self._cut(out, n, 0.0, 1.0)
        elif kind == _SCALED_TANH:
            self._scale(beta, at, out, n)
            self._gate(out, out, n, 1)
            self._scale(alpha, out, out, n)
        elif kind in MISSING:
            from ._activations import of

            loop = _of_floats(of(kind, alpha))
            p = block("clip", start=out, end=out + n, low=0, high=0)
            self.calls.call(loop, self.floats, self.floats, self.floats, p)
        else:
            self._gate(at, out, n, int(kind == _TANH))

    def _scale(self, factor, a, out, n, is_prelu=0):
        """Emit out = a * factor; with is_prelu only where a is negative."""
        factor = self._one if factor == 1.0 else self.calls.constants("f", [factor])
        self._pair(self._mul, a, factor, 0, 0, out, n, is_prelu)

    def _pair(self, loop, a, w, b, b_stride, out, n, is_prelu=0):
        """Emit a call of mul32 or add32 on n elements: out = a * b or a + b.

        Args:
            loop: mul32 or add32.
            a: start of the first operand in `floats`.
            w: buffer of the second operand.
            b: start of the second operand in w.
            b_stride: 1, or 0 if one element of w is the operand of all.
            out: start of the result in `floats`.
            n: number of elements.
            is_prelu: multiply only where a is negative. add32 has its parameter is_difference at
                the same index, so it must be 0 for a sum.
        """
        p = block(
            "mul",
            x_start=a,
            x_row_stride=0,
            x_stride=1,
            w_start=b,
            w_row_stride=0,
            w_stride=b_stride,
            out_start=out,
            rows=1,
            columns=n,
            is_prelu=is_prelu,
        )
        self.calls.call(loop, self.floats, w, self.floats, p)

    def _gate(self, at, out, n, is_tanh):
        loop = forms.get("gates").gate32
        p = block("gates", x_start=at, elements=n, out_start=out, is_tanh=is_tanh)
        self.calls.call(loop, self.bits, self.bits, self.bits, p)

    def _cut(self, at, n, low, high):
        low, high = struct.unpack("<2i", struct.pack("<2f", low, high))
        p = block("clip", start=at, end=at + n, low=low, high=high)
        self._call(forms.get("clip").clip32, p)

    def _call(self, loop, p):
        self.calls.call(loop, self.bits, self.bits, self.bits, p)


def _of_floats(f):
    """Return a loop that applies f to each element; its block is that of clip."""

    def loop(x, w, out, p):
        for i in range(p[_START], p[_END]):
            out[i] = f(x[i])

    return loop
