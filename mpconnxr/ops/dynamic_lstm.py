"""dynamic_lstm: long short-term memory of bytes, one direction. Serves com.microsoft's
DynamicQuantizeLSTM.

The gates are those of kernel lstm. x and h become bytes on the way: x by its own least and
greatest value, over the steps of the longest sequence, h by those of a time step, over the batch:

    scale = (max(x, 0) - min(x, 0)) / 255;  zero = round(-min(x, 0) / scale);  q = x / scale + zero
    sums over x  = sum((q - zero) * (W - w_zero)) * scale * W_scale + bias, and so on

    inputs   x float32, W and R uint8 packed as for qconv (see loops/qdot), float32 (3, 4 * H):
             scales of W's rows, of R's, biases, or of the usual cell int32 (4, 4 * H), and
             (117, 3): see loops/byte_gates and loops/gated; then as _recurrent has them
    outputs  as there
    scratch  that of lstm; uint8: a record of I items, B records of H items (see loops/qdot);
             int32 (4 * H) unless it is the usual cell
The usual cell is that with Sigmoid, Tanh and Tanh, without P, clip and input_forget, of up to 8192
items. All of it is integers, in a few calls a step: see loops/byte_steps. Else the gates are
computed with floats. Raises ModelError; InputError when it runs, as there. A step allocates
nothing, or only boxed floats where it computes with them.
"""

from .. import forms
from ..blocks import block
from ..loops.byte_steps import (
    _ARGUMENTS_OUT_START,
    _CELL_ARGUMENTS_START,
    _ENDS_X_START,
    _H_DOTS,
    _H_SCALE,
    _H_START,
    _LARGEST,
    _PUT_X_START,
    _SEQUENCE_STEPS,
    _STEP,
    _STEP_END,
    _X_DOTS,
    _X_SCALE,
)
from ..loops.byte_steps import _X_START as _STEPS_X_START
from ..loops.dot import _OUT_START as _DOT_OUT_START
from ..loops.dot import _X_START as _DOT_X_START
from ..loops.dynamic_quantize import _OUT_START, _X_END, _X_START
from ..loops.qdot32 import _OUT_START as _QDOT_OUT_START
from ..loops.qdot32 import _X_ZERO_POINT
from ..parameters import block as words
from ..tensor import view
from . import _lstm_bits, _recurrent, lstm

# params: as _recurrent

STREAMS = (1, 2)

_MAX_K = 33024  # K * 255 * 255 stays below 2**31
_RECORD = 4  # bytes of a record before its items
_NO_SIGN = 0x7FFFFFFF
_INF = 0x7F800000
_USUAL = 8192  # items of x or of h; sums stay below 2**29
_TABLE = 351


def prepare(node):
    usual = _lstm_bits.is_usual(node) and max(node.extents(0, 4)[2:]) <= _USUAL
    return _recurrent.prepare(node, _InIntegers() if usual else _DynamicLstm())


def _padded(n):
    return n + 3 & -4


class _DynamicLstm(lstm.Lstm):
    n_leading, n_scratch = 4, 3
    n_factors, of_factors = 3, "float32"

    def check_weights(self, node, e):
        w, r, factors = node.inputs[1:4]
        batch, width, hidden, *zeros = _recurrent.sizes(e)
        rows = 4 * hidden
        records = 2 * _RECORD + _padded(width) + (batch - 1) * _RECORD + batch * _padded(hidden)
        node.require(max(width, hidden) < _MAX_K and max(zeros) < 256, "sizes or zero points")
        node.expect_dtype("uint8", w, r, node.scratch[1])
        node.expect_dtype(self.of_factors, factors)
        node.require(rows * (8 + _padded(width)) <= w.nelem, "W is too small")
        node.require(rows * (8 + _padded(hidden)) <= r.nelem, "R is too small")
        node.require(self.n_factors * rows <= factors.nelem, "factors are too few")
        node.require(records <= node.scratch[1].nelem, "records are too small")

    def set_shape(self, node, e):
        lstm.Lstm.set_shape(self, node, e)
        _, self.width, _, w_zero, r_zero = _recurrent.sizes(e)
        rows = 4 * self.hidden
        self.ends_p = block(
            "dynamic_quantize.to_bytes",
            x_start=0,
            x_end=0,
            mask=_NO_SIGN,
            infinity=_INF,
            out_start=0,
        )
        self.wq = block(
            "qdot32",
            w_start=8 * rows,
            table_start=0,
            columns=_padded(self.width),
            positions=1,
            channels=rows,
            out_start=0,
            out_position_stride=0,
            out_channel_stride=1,
            w_zero_point=w_zero,
            x_zero_point=0,
            zero_start=0,
            unused=(0,),
            x_start=_RECORD,
            x_position_stride=0,
            has_sums=0,
        )
        self.rq = block(
            "qdot32",
            w_start=8 * rows,
            table_start=0,
            columns=_padded(self.hidden),
            positions=1,
            channels=rows,
            out_start=0,
            out_position_stride=0,
            out_channel_stride=1,
            w_zero_point=r_zero,
            x_zero_point=0,
            zero_start=0,
            unused=(0,),
            x_start=_RECORD,
            x_position_stride=0,
            has_sums=0,
        )
        at = _X_ZERO_POINT
        self.zeros = memoryview(self.wq)[at : at + 1], memoryview(self.rq)[at : at + 1]

    def bind(self, node, tensors):
        lstm.Lstm.bind(self, node, tensors)
        self.x_bits = node.inputs[0].view("i")
        self.factors = node.inputs[3].data
        for t in node.inputs[1:3]:
            t.view("i")  # raises where it is not aligned
        first = _RECORD + _padded(self.width)
        size = _RECORD + _padded(self.hidden)
        self.empty, n = node.scratch[1].view("i"), (first + self.batch * size) // 4
        self.empty_p = block(
            "move",
            start=0,
            end=1,
            rows=1,
            columns=n,
            x_plane_stride=0,
            x_row_stride=0,
            x_column_stride=0,
            out_plane_stride=0,
            out_row_stride=0,
            out_column_stride=1,
            x_start=0,
            out_start=0,
        )
        self.ends = self.bits[self.from_x :]  # two floats, where sums come to lie behind them
        self.quantize = forms.get("dynamic_quantize")
        self.qdots = forms.get("qdot32").qdots32
        self.bind_records(node, first, size)

    def bind_records(self, node, first, size):
        """Records of x, then of h, in bytes; of each scale, zero point, inverse of the scale."""
        node.expect_dtype("int32", node.scratch[2])
        node.require(4 * self.hidden <= node.scratch[2].nelem, "sums are too small")
        self.sums = node.scratch[2].data
        records = node.scratch[1].data
        self.record = records[:first]
        self.records = [
            records[first + b * size : first + b * size + size] for b in range(self.batch)
        ]
        cells = bytearray(24)
        self.words = [view(cells, 0, "i", 3), view(cells, 12, "i", 3)]
        self.scales = [view(cells, 0, "f", 3), view(cells, 12, "f", 3)]
        self.dots = self.products

    def _start(self):
        lstm.Lstm._start(self)
        self.measure(self.x_bits, self._longest() * self.batch * self.width, 0)
        # what lies behind a record's items is added up with them
        self.copy(self.zero, self.zero, self.empty, self.empty_p)

    def _longest(self):
        """Time steps of the longest sequence: x behind them does not count."""
        if self.lens is None:
            return self.n
        longest = b = 0
        while b < self.batch:
            longest = max(longest, min(self.lens[b], self.n))
            b += 1
        return longest

    def _advance(self, i, b):
        if b == 0:
            self.quantize_states()
        _recurrent.Walk._advance(self, i, b)

    def quantize_states(self):
        """All h of the batch, before any of them changes."""
        self.measure(self.bits, self.batch * self.hidden, 1)
        b = 0
        while b < self.batch:
            self.set_range(b * self.hidden, self.hidden)
            self.fill(self.bits, self.records[b], self.words[1])
            b += 1

    def measure(self, x, n, which):
        """Chooses the scale and the zero point of the first n items of x."""
        self.set_range(0, n)
        self.ends_p[_OUT_START] = 0
        self.quantize.ends(x, x, self.ends, self.ends_p)
        self.quantize.choose(self.ends, self.zeros[which], self.words[which], self.ends_p)

    def set_range(self, first, n):
        self.ends_p[_X_START] = first
        self.ends_p[_X_END] = first + n

    def fill(self, x, record, words):
        """The items of x that set_range says, into a record of bytes."""
        self.ends_p[_OUT_START] = _RECORD
        self.quantize.to_bytes(x, words, record, self.ends_p)

    def products(self, x, w, out, p):
        """Compute from bytes what loops/dot does: over a row of x, or over h from x_start on."""
        if p is self.wp:
            self.set_range(p[_DOT_X_START], self.width)
            self.fill(self.x_bits, self.record, self.words[0])
            self.qdots(self.record, w, self.sums, self.wq)
            self.give(out, p[_DOT_OUT_START], 0)
        else:
            self.qdots(self.records[p[_DOT_X_START] // self.hidden], w, self.sums, self.rq)
            self.give(out, p[_DOT_OUT_START], 1)

    def give(self, out, at, which):
        """The sums times their scales, those over x with their biases."""
        factors, sums, scale = self.factors, self.sums, self.scales[which][0]
        n = 4 * self.hidden
        first = n if which else 0
        i = 0
        while i < n:
            v = sums[i] * (scale * factors[first + i])
            out[at + i] = v if which else v + factors[2 * n + i]
            i += 1


class _InIntegers(_DynamicLstm):
    """The room for twice the sums holds those over x and those over h, then gates."""

    n_leading, n_scratch = 5, 2
    n_factors, of_factors = 4, "int32"

    def check_weights(self, node, e):
        _DynamicLstm.check_weights(self, node, e)
        table = node.inputs[4]
        node.expect_dtype("int32", table)
        node.require(_TABLE <= table.nelem, "table is too small")

    def bind_records(self, node, first, size):
        n, at, rows = self.hidden, self.from_x, 4 * self.hidden
        self.wq[_QDOT_OUT_START], self.rq[_QDOT_OUT_START] = at, at + rows
        of_range = [_NO_SIGN, _INF]
        p = [0, 0, n, self.batch, self.reverse, int(self.y is not None)]
        p += [self.x_t, self.x_b, self.y_first, self.y_t, self.y_b]
        p += [self.width, first + _RECORD, size]
        p += [0, self.batch * n] + of_range + [2] + [0, 0] + of_range + [_RECORD, 0, 0]
        p += of_range + [0] + list(self.wq) + list(self.rq) + [at, rows, _X_SCALE, _H_SCALE]
        self.p = words(*p + [at, n, 0, 0, 0, n, 0] + [0] * 8 + [self.n] * self.batch)
        views = memoryview(self.p)
        ends = (
            _ENDS_X_START,
            _STEPS_X_START,
            _H_START,
            _X_DOTS,
            _H_DOTS,
            _ARGUMENTS_OUT_START,
            _CELL_ARGUMENTS_START,
            _PUT_X_START,
            _X_SCALE,
            _LARGEST,
        )
        x_zero, h_zero = _X_DOTS + _X_ZERO_POINT, _H_DOTS + _X_ZERO_POINT
        self.words, self.zeros = [views[_X_SCALE:_LARGEST]], [views[x_zero : x_zero + 1]]
        gated, of_ranges = forms.get("gated"), self.quantize
        self.needs = [of_ranges.ends, of_ranges.choose, of_ranges.to_bytes, self.qdots]
        self.needs += [forms.get("byte_gates").arguments, gated.lstm, gated.put, self.p]
        self.needs += [views[ends[i] : ends[i + 1]] for i in range(9)]
        self.needs += [views[_LARGEST:_SEQUENCE_STEPS], views[_H_SCALE:_SEQUENCE_STEPS]]
        self.needs += [views[h_zero : h_zero + 1], self.x_bits]
        self.needs += [self.w, self.r, self.factors, self.bits]
        self.needs += [node.scratch[1].data, node.inputs[4].data]
        self.needs.append(self.bits if self.y is None else self.y)
        self.steps = forms.get("byte_steps").steps
        self.bind_calls()

    def bind_calls(self):
        """What is called before the first step, and behind the last one."""
        n, self.before, self.behind = self.hidden, [], []
        for state in range(2):
            x, outside = self.initial[state], (self.s_b, 1, self.s_first)
            there = n, 1, state * self.batch * n
            p = self._states_p((0, 0, 0) if x is None else outside, there)
            self.before += [self.copy, self.zero if x is None else x, self.zero, self.bits, p]
            if self.last[state] is not None:
                p = self._states_p(there, outside)
                self.behind += [self.copy, self.bits, self.zero, self.last[state], p]
        self.x_p = block(
            "dynamic_quantize.choose",
            x_start=0,
            x_end=self.n * self.batch * self.width,
            mask=_NO_SIGN,
            infinity=_INF,
            out_start=0,
        )
        ranges = self.quantize
        self.before += [ranges.ends, self.x_bits, self.x_bits, self.ends, self.x_p]
        self.before += [ranges.choose, self.ends, self.zeros[0], self.words[0], self.x_p]
        # what lies behind a record's items is added up with them
        self.before += [self.copy, self.zero, self.zero, self.empty, self.empty_p]

    def _states_p(self, x, out):
        """Return the block of a copy of the batch's states.

        x, out: the strides from state to state and from element to element, and the start.
        """
        return block(
            "move",
            start=0,
            end=self.batch,
            rows=1,
            columns=self.hidden,
            x_plane_stride=x[0],
            x_row_stride=0,
            x_column_stride=x[1],
            out_plane_stride=out[0],
            out_row_stride=0,
            out_column_stride=out[1],
            x_start=x[2],
            out_start=out[2],
        )

    def bind_cell(self, functions):
        pass  # there is no choice

    def step(self, lo, hi):
        if lo == 0:
            if self.lens is not None:
                self._take_lengths()
            self._call(self.before)
        self.p[_STEP] = lo
        self.p[_STEP_END] = hi
        self.steps(self.p, self.needs)
        if hi == self.n:
            if self.lens is None:
                self._call(self.behind)
            else:
                self._finish()

    def _call(self, calls):
        i = 0
        while i < len(calls):
            calls[i](calls[i + 1], calls[i + 2], calls[i + 3], calls[i + 4])
            i += 5

    def _take_lengths(self):
        """What lies behind a sequence's end is 0."""
        self.x_p[_X_END] = self._longest() * self.batch * self.width
        b = 0
        while b < self.batch:
            self.p[_SEQUENCE_STEPS + b] = self._length(b)
            b += 1
        if self.y is not None:
            p = block(
                "move",
                start=0,
                end=self.n,
                rows=self.batch,
                columns=self.hidden,
                x_plane_stride=0,
                x_row_stride=0,
                x_column_stride=0,
                out_plane_stride=self.y_t,
                out_row_stride=self.y_b,
                out_column_stride=1,
                x_start=0,
                out_start=self.y_first,
            )
            self.copy(self.zero, self.zero, self.y, p)
