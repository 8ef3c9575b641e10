"""dynamic_lstm: long short-term memory on bytes, one direction.

Serves com.microsoft's DynamicQuantizeLSTM. The gates are those of kernel lstm. x and h are
quantized at run time: x by its own range over the steps of the longest sequence, h by the range of
each time step over the batch:

    scale = (max(x, 0) - min(x, 0)) / 255;  zero = round(-min(x, 0) / scale);  q = x / scale + zero
    sums over x  = sum((q - zero) * (W - w_zero)) * scale * W_scale + bias; sums over h likewise

    inputs   x float32; W and R uint8, packed as for qconv (see loops/qdot); float32 (3, 4 * H):
             scales of W's rows, of R's rows, biases. For the default cell int32 (4, 4 * H) and
             (117, 3) instead: see loops/byte_gates and loops/gated. Then as in _recurrent
    outputs  as in _recurrent
    scratch  that of lstm; uint8: a record of I elements and B records of H elements (see
             loops/qdot); int32 (4 * H), or for the default cell float32 (10): see loops/byte_steps

The default cell has the activations Sigmoid, Tanh and Tanh, no P, clip, input_forget or
sequence_lens, and at most 8192 elements of x and of h. It is computed in integers, in a
few calls per step (see loops/byte_steps). For other cells Python multiplies the sums by their
scales. Raises ModelError, and InputError at run time as _recurrent does. A step of the default
cell allocates nothing.
"""

from array import array

from .. import forms
from ..blocks import block
from ..loops.byte_steps import (
    _ARGUMENTS_OUT_START,
    _CELL_ARGUMENTS_START,
    _ENDS_X_START,
    _H_DOTS,
    _H_START,
    _PUT_X_START,
    _STEP,
    _STEPS,
    _X_DOTS,
)
from ..loops.byte_steps import _X_START as _STEPS_X_START
from ..loops.dynamic_quantize import _OUT_START, _X_END, _X_START
from ..loops.qdot32 import _X_ZERO_POINT
from ..parameters import block as words
from ..tensor import view
from . import _recurrent, lstm
from ._cells import CellMath

# params: as _recurrent

CALLS = True
STREAMS = (1, 2)

_MAX_K = 33024  # K * 255 * 255 stays below 2**31
_RECORD = 4  # bytes of a record before its elements
_NO_SIGN = 0x7FFFFFFF
_INF = 0x7F800000
_MOST = 8192  # elements of x or of h for the default cell: sums stay below 2**29
_TABLE = 351
_RANGE = 5  # words of x's range in loops/byte_steps, and as many of h's
_SCALE = 2  # index among them of the first parameter of to_bytes
_H_DOTS_REST = 3  # words of qdot32 that byte_steps declares by name


def prepare(node, calls):
    is_default = lstm.is_default_cell(node) and max(node.extents(0, 4)[2:]) <= _MOST
    is_default = is_default and not _recurrent.has_lengths(node)
    return _recurrent.prepare(node, calls, _InIntegers() if is_default else _DynamicLstm())


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
        for t in node.inputs[1:3]:
            t.view("i")  # raises where it is not aligned
        self.check_factors(node, rows)

    def check_factors(self, node, rows):
        node.expect_dtype("int32", node.scratch[2])
        node.require(rows <= node.scratch[2].nelem, "sums are too small")

    def set_shape(self, node, e, tensors):
        lstm.Lstm.set_shape(self, node, e, tensors)
        self.first = _RECORD + _padded(self.width)  # start of the records of h
        self.record_nbytes = _RECORD + _padded(self.hidden)

    def is_of_python(self):
        return True

    def bind(self, node, calls):
        """Create records of x and h in bytes, and for each scale, zero point and inverse scale."""
        self.math = CellMath(calls, self.scratch)
        self.bits, self.empty = self.math.bits, node.scratch[1]
        self.x_bits, self.floats = node.inputs[0].view("i"), self.scratch.data
        self.of_rows, self.factors = [t.data for t in node.inputs[1:3]], node.inputs[3].data
        self.sums, records = node.scratch[2].data, node.scratch[1].data
        self.states = self.scratch.view("i")
        self.ends = self.states[self.x_sums :]  # two floats, which sums later overwrite
        self.quantize = forms.get("dynamic_quantize")
        self.qdots = forms.get("qdot32").qdots32
        self.record = records[: self.first]
        starts = [self.first + b * self.record_nbytes for b in range(self.batch)]
        self.records = [records[at : at + self.record_nbytes] for at in starts]
        cells = bytearray(24)
        self.words = [view(cells, 0, "i", 3), view(cells, 12, "i", 3)]
        self.scales = [view(cells, 0, "f", 3), view(cells, 12, "f", 3)]
        self.dots_p = [array("i", self.dots_words(which, _RECORD, 0)) for which in (0, 1)]
        at = _X_ZERO_POINT
        self.zeros = [memoryview(p)[at : at + 1] for p in self.dots_p]
        self.ends_p = array("i", self.range_words(0, 0, 0))

    def range_words(self, x_start, x_end, out_start):
        """Return a block of dynamic_quantize as a list."""
        return list(
            block(
                "dynamic_quantize.to_bytes",
                x_start=x_start,
                x_end=x_end,
                mask=_NO_SIGN,
                infinity=_INF,
                out_start=out_start,
            )
        )

    def dots_words(self, which, x_start, out_start):
        """Return a block of qdot32 as a list, for products with W (which = 0) or R (1)."""
        return list(
            block(
                "qdot32",
                w_start=8 * self.rows,
                table_start=0,
                columns=_padded(self.hidden if which else self.width),
                positions=1,
                channels=self.rows,
                out_start=out_start,
                out_position_stride=0,
                out_channel_stride=1,
                w_zero_point=self.has_bias[which],
                x_zero_point=0,
                zero_start=0,
                unused=(0,),
                x_start=x_start,
                x_position_stride=0,
                has_sums=0,
            )
        )

    def begin(self, calls):
        lstm.Lstm.begin(self, calls)
        calls.drive(self.measure_x, words(0), [])
        self.empty_records(calls)

    def empty_records(self, calls):
        """Emit zeros for all records, whose padding is summed up with their elements."""
        words = (self.first + self.batch * self.record_nbytes) // 4
        zero, out = calls.constants("i", [0]), calls.place(self.empty, "i")
        self._copy(calls, zero, (0, 0, 0), out, (0, 1, 0), 1, words)

    def begin_step(self, calls):
        calls.drive(self.quantize_states, words(0), [])

    def dots(self, calls, which, x_start, first, rows, out):
        calls.drive(self.products, words(which, x_start, out), [])

    def measure_x(self, p, w):
        """Choose the scale of x; elements behind the end of the longest sequence do not count."""
        longest = self.n
        if self.lens:
            longest = max(0, min(self.n, max(self.lens.data[: self.batch])))
        self.measure(self.x_bits, longest * self.batch * self.width, 0)

    def quantize_states(self, p, w):
        """Convert all h of the batch to bytes before any of them changes."""
        self.measure(self.states, self.batch * self.hidden, 1)
        for b in range(self.batch):
            self.set_range(b * self.hidden, self.hidden)
            self.fill(self.states, self.records[b], self.words[1])

    def measure(self, x, n, which):
        """Choose scale and zero point of the first n elements of x."""
        self.set_range(0, n)
        self.ends_p[_OUT_START] = 0
        self.quantize.ends(x, x, self.ends, self.ends_p)
        self.quantize.choose(self.ends, self.zeros[which], self.words[which], self.ends_p)

    def set_range(self, first, n):
        self.ends_p[_X_START] = first
        self.ends_p[_X_END] = first + n

    def fill(self, x, record, words):
        """Write the elements of x that set_range has selected to a record, as bytes."""
        self.ends_p[_OUT_START] = _RECORD
        self.quantize.to_bytes(x, words, record, self.ends_p)

    def products(self, p, w):
        """Multiply bytes of x or of an h by weights. p holds which, x_start, out_start."""
        which, x_start, at = p
        record = self.records[x_start // self.hidden] if which else self.record
        if which == 0:
            self.set_range(x_start, self.width)
            self.fill(self.x_bits, record, self.words[0])
        self.qdots(record, self.of_rows[which], self.sums, self.dots_p[which])
        self.scale_sums(at, which)

    def scale_sums(self, at, which):
        """Write the scaled sums; those over x (which = 0) include their biases."""
        factors, sums, out = self.factors, self.sums, self.floats
        scale, n = self.scales[which][0], self.rows
        first = n if which else 0
        for i in range(n):
            v = sums[i] * (scale * factors[first + i])
            out[at + i] = v if which else v + factors[2 * n + i]


class _InIntegers(_DynamicLstm):
    """The default cell.

    Its sums over x and over h, then its gates, share the scratch of the sums.
    """

    n_leading = 5
    n_factors, of_factors = 4, "int32"

    def check_factors(self, node, rows):
        table, ranges = node.inputs[4], node.scratch[2]
        node.expect_dtype("int32", table)
        node.expect_dtype("float32", ranges)
        node.require(_TABLE <= table.nelem, "table is too small")
        node.require(2 * _RANGE <= ranges.nelem, "ranges are too small")

    def is_of_python(self):
        return False

    def bind(self, node, calls):
        self.node = node
        self.bits = calls.place(self.scratch, "i")
        self.empty = node.scratch[1]

    def emit(self, calls):
        loops = forms.get("dynamic_quantize")
        _recurrent.Walk.begin(self, calls)
        self.empty_records(calls)
        x, ranges = self.node.inputs[0], calls.place(self.node.scratch[2], "i")
        p = words(*self.range_words(0, self.n * self.batch * self.width, 0))
        calls.call(loops.ends, calls.place(x, "i"), None, ranges, p)
        drive, needs = forms.get("byte_steps").steps, self._needs(calls, loops)
        work = self.batch * self.hidden * (self.width + self.hidden)
        for step, step_end in calls.parts(self.n, work):
            calls.drive(drive, self._steps_p(step, step_end), needs, (_STEP,))
        self.end(calls)

    def _steps_p(self, step, step_end):
        n, at, first = self.hidden, self.x_sums, self.first
        return block(
            "byte_steps",
            step=step,
            step_end=step_end,
            hidden=n,
            batch=self.batch,
            is_reversed=self.reverse,
            has_y=int(self.y is not None),
            x_step_stride=self.x_t,
            x_batch_stride=self.x_b,
            y_start=self.y_first,
            y_step_stride=self.y_t,
            y_batch_stride=self.y_b,
            x_elements=self.width,
            records_start=first + _RECORD,
            record_stride=self.record_nbytes,
            ends_x_start=0,
            ends_x_end=self.batch * n,
            ends_mask=_NO_SIGN,
            ends_infinity=_INF,
            ends_out_start=_SCALE,
            x_start=0,
            x_end=0,
            x_mask=_NO_SIGN,
            x_infinity=_INF,
            x_out_start=_RECORD,
            h_start=0,
            h_end=0,
            h_mask=_NO_SIGN,
            h_infinity=_INF,
            h_out_start=0,
            x_dots=self.dots_words(0, _RECORD, at),
            h_dots=self.dots_words(1, 0, at + self.rows)[:-_H_DOTS_REST],
            h_dots_x_start=0,
            h_dots_x_position_stride=0,
            h_dots_has_sums=0,
            arguments_out_start=at,
            arguments_rows=self.rows,
            arguments_x_scale_start=_SCALE,
            arguments_h_scale_start=_RANGE + _SCALE,
            cell_arguments_start=at,
            cell_elements=n,
            cell_h_start=0,
            cell_c_start=0,
            put_x_start=0,
            put_elements=n,
            put_out_start=0,
            steps=self.n,
        )

    def _needs(self, calls, loops):
        """Return the list of loops, views and blocks that loops/byte_steps takes."""
        node, gated, place = self.node, forms.get("gated"), calls.place
        x, w, r, factors, table = node.inputs[:5]
        bits, ranges = place(self.scratch, "i"), node.scratch[2]
        ends = (
            _ENDS_X_START,
            _STEPS_X_START,
            _H_START,
            _X_DOTS,
            _H_DOTS,
            _ARGUMENTS_OUT_START,
            _CELL_ARGUMENTS_START,
            _PUT_X_START,
            _STEPS,
        )
        needs = [loops.ends, loops.choose, loops.to_bytes, forms.get("qdot32").qdots32]
        needs += [forms.get("byte_gates").arguments, gated.lstm, gated.put]
        needs += [calls.part(ends[i], ends[i + 1]) for i in range(8)]
        for dots in _X_DOTS, _H_DOTS:
            needs.append(calls.part(dots + _X_ZERO_POINT, dots + _X_ZERO_POINT + 1))
        needs += [place(x, "i"), place(w), place(r), place(factors), bits, place(node.scratch[1])]
        needs += [place(table), place(self.y, "i") if self.y else bits]
        needs += [place(ranges, "i", first) for first in (0, 0, _RANGE, _SCALE, _RANGE + _SCALE)]
        return needs
