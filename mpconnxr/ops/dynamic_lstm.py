"""dynamic_lstm: long short-term memory of bytes, one direction. Serves com.microsoft's
DynamicQuantizeLSTM.

The gates are those of kernel lstm. x and h become bytes on the way: x by its own least and
greatest value, over the whole input, h by those of a time step, over the batch:

    scale = (max(x, 0) - min(x, 0)) / 255;  zero = round(-min(x, 0) / scale);  q = x / scale + zero
    sums over x  = sum((q - zero) * (W - w_zero)) * scale * W_scale + bias, and so on

    inputs   x float32, W and R uint8 packed as for qconv (see loops_qdot), float32 (3, 4 * H):
             scales of W's rows, of R's, biases; then as kernel recurrent has them
    outputs  as there
    scratch  that of lstm; uint8: a record of I items, B records of H items (see loops_qdot);
             int32 (4 * H)
    params   as there, with w_zero and r_zero (unsigned) in the place of w_bias and r_bias
Raises ModelError; InputError when it runs, as there. A step allocates only boxed floats.
"""

from array import array

from .. import forms
from ..node import block
from . import lstm, recurrent

STREAMS = (1, 2)

_INF = float("inf")
_MAX_K = 33024  # K * 255 * 255 stays below 2**31
_RECORD = 4  # bytes of a record before its items: their sum


def prepare(node):
    return recurrent.prepare(node, _DynamicLstm())


def _padded(n):
    return n + 3 & -4


class _DynamicLstm(lstm.Lstm):
    n_leading, n_scratch = 4, 3

    def check_weights(self, node, e):
        w, r, factors = node.inputs[1:4]
        batch, width, hidden, zeros = e[1], e[2], e[3], e[6:8]
        rows = 4 * hidden
        records = 2 * _RECORD + _padded(width) + (batch - 1) * _RECORD + batch * _padded(hidden)
        node.require(max(width, hidden) < _MAX_K and max(zeros) < 256, "sizes or zero points")
        node.expect_dtype("uint8", w, r, node.scratch[1])
        node.expect_dtype("float32", factors)
        node.expect_dtype("int32", node.scratch[2])
        node.require(rows * (8 + _padded(width)) <= w.nelem, "W is too small")
        node.require(rows * (8 + _padded(hidden)) <= r.nelem, "R is too small")
        node.require(3 * rows <= factors.nelem, "factors are too few")
        node.require(records <= node.scratch[1].nelem, "records are too small")
        node.require(rows <= node.scratch[2].nelem, "sums are too small")

    def set_shape(self, node, e):
        lstm.Lstm.set_shape(self, node, e)
        self.width, rows = e[2], 4 * self.hidden
        self.x_nelem = self.n * self.batch * self.width
        at, x = 8 * rows, (_RECORD, 0, 1)
        self.wq = block(at, 0, _padded(self.width), 1, rows, 0, 0, 1, e[6], 0, 0, 0, *x)
        self.rq = block(at, 0, _padded(self.hidden), 1, rows, 0, 0, 1, e[7], 0, 0, 0, *x)

    def bind(self, node, tensors):
        lstm.Lstm.bind(self, node, tensors)
        self.factors = node.inputs[3].data
        self.sums = node.scratch[2].data
        records = node.scratch[1].data
        for t in (node.scratch[1], node.inputs[1], node.inputs[2]):
            t.view("i")  # raises where it is not aligned
        first = _RECORD + _padded(self.width)
        size = _RECORD + _padded(self.hidden)
        self.record = records[:first]
        self.records = [
            records[first + b * size : first + b * size + size] for b in range(self.batch)
        ]
        self.scale, self.zero = array("f", [0, 0]), array("i", [0, 0])  # of x, of h
        self.cell_f = array("f", [0.0])
        # the blocks of a quantization: see loops_quantize
        self.to_record = block(0, 0, 1, 0, 0, 0, _RECORD, 1, 0)
        self.quantize = forms.get("loops_quantize").quantize
        self.byte = (self.scale, self.zero, 0, 255, self.cell_f)
        self.qdots = forms.get("loops_qdot").qdots32
        self.dots = self.products

    def _start(self):
        lstm.Lstm._start(self)
        self.measure(self.x, self.x_nelem, 0)

    def _advance(self, i, b):
        if b == 0:
            self.quantize_states()
        recurrent.Walk._advance(self, i, b)

    def quantize_states(self):
        """All h of the batch, before any of them changes."""
        self.measure(self.s, self.batch * self.hidden, 1)
        b = 0
        while b < self.batch:
            self.fill(self.s, b * self.hidden, self.records[b], self.hidden, 1)
            b += 1

    def measure(self, x, n, which):
        """Sets the scale and the zero point of the first n items of x."""
        low = high = 0.0
        while n:
            n -= 1
            v = x[n]
            if v < low:
                low = v
            elif v > high:
                high = v
        self.scale[which] = (high - low) / 255 if high > low else 1.0
        scale = self.scale[which]
        v = (0 - low) / scale if 0 < scale < _INF else 0
        self.zero[which] = round(255 if v > 255 else v if v > 0 else 0)

    def fill(self, x, first, record, n, which):
        """n items of x into a record of bytes, behind their sum. (Padding meets zeros.)"""
        p = self.to_record
        p[0], p[3], p[8] = first, which, n
        self.quantize(x, self.byte, record, p)
        total = 0
        while n:
            n -= 1
            total += record[_RECORD + n]
        record[0] = total & 255
        record[1] = total >> 8 & 255
        record[2] = total >> 16
        record[3] = 0

    def products(self, x, w, out, p):
        """What loops_dot gives, from bytes: over a row of x, or over the h that starts at p[0]."""
        if p is self.wp:
            self.fill(x, p[0], self.record, self.width, 0)
            self.multiply(self.record, w, self.wq, 0)
            self.give(out, p[2], 0, 0)
        else:
            self.multiply(self.records[p[0] // self.hidden], w, self.rq, 1)
            self.give(out, p[2], 1, 4 * self.hidden)

    def multiply(self, record, w, q, which):
        q[9] = self.zero[which]
        self.qdots(record, w, self.sums, q)

    def give(self, out, at, which, first):
        """The sums times their scales, those over x with their biases."""
        factors, sums, scale = self.factors, self.sums, self.scale[which]
        n = 4 * self.hidden
        i = 0
        while i < n:
            v = sums[i] * (scale * factors[first + i])
            out[at + i] = v if which else v + factors[2 * n + i]
            i += 1
