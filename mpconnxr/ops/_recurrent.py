"""What lstm, gru and rnn share: one direction's walk over time, and the check of its node.

Each walk computes, for every sequence b of the batch and its items t in order (or backwards from
the sequence's own end), the gates' sums x[t, b] . W' + bias and h . R' + bias with the loop under
gemm, lets the kernel's cell make the new state of them, and copies h to Y. The sums of one item
are all that is ever held: those of a whole sequence would take far more memory.

    inputs   x float32, W float32 rows (gates * H, I + w_bias) a direction, R float32 rows
             (gates * H, H + r_bias) a direction (a bias lies behind its row); or, with a second
             scratch, in block floating point (see block) mantissas of W and of R, exponents of W
             and of R, then biases where w_bias, r_bias say so; then as `present` says:
             sequence_lens int32 (B), initial h, initial c float32, P float32 (3 * H a direction)
    outputs  as `present` says: Y, Y_h, Y_c float32
    scratch  float32: h (B, H), for lstm c (B, H), then twice the sums (gates, H); int32 for the
             products in block floating point

Behind a sequence's end Y is 0; the last states are those at its end, and 0 if its length is 0.
clip cuts the arguments of the gates' functions, as onnxruntime does (not that of lstm's third).
Raises ModelError; InputError when it runs, for a length outside 0 .. T. With products in block
floating point and functions that cells has loops for a step allocates nothing where viper is, else
only what float arithmetic does (boxed floats).
"""

import struct
from array import array

from .. import forms
from ..blocks import block
from ..errors import InputError
from ..loops.dot import _COLUMNS
from ..loops.dot import _X_START as _DOT_X_START
from ..loops.move import _OUT_START, _X_COLUMN_STRIDE, _X_START
from ..parameters import BIAS
from . import _block_rows

# params
_SEQ = const(0)
_BATCH = const(1)
_INPUT_SIZE = const(2)
_HIDDEN = const(3)
_X_STRIDES = const(4)  # [t, b] items between time steps and between sequences
_BIASES = const(6)  # [w, r] behind the rows of each; of dynamic_lstm: zero points, unsigned
_DIRECTION = const(8)  # index into W, R, P
_REVERSE = const(9)  # flag
_Y_FIRST = const(10)
_Y_STRIDES = const(11)  # [t, b]
_S_FIRST = const(13)  # where initial and last states lie
_S_STRIDE = const(14)  # between sequences
_PRESENT = const(15)  # bits: sequence_lens 1, initial h 2, initial c 4, P 8, Y 16, Y_h 32, Y_c 64
_OPTION = const(16)  # of the kernel
_CLIP = const(17)  # float; 0: none
_ACTIVATIONS = const(18)  # [*] any; of each its kind (see _gates), and the bits of alpha and beta

_N_OPTIONAL_INPUTS = 4
_N_FUNCTIONS = 11  # kinds of gates
_N_CLIPPED = 2  # functions that are of a gate


def prepare(node, walk):
    """Binds a kernel's Walk to its node -> (n, step)."""
    if walk.n_leading == 3 and len(node.scratch) == 2:
        walk.in_blocks, walk.n_scratch = True, 2
    n_params = _ACTIVATIONS + 3 * walk.n_activations
    node.expect(len(node.inputs), len(node.outputs), n_params, walk.n_scratch)
    e = node.extents(0, _CLIP)
    if walk.in_blocks:
        node.require(max(e[_BIASES:_DIRECTION]) < 2, "flags")
        walk.biases = e[_BIASES:_DIRECTION]
        walk.n_leading = 5 + sum(walk.biases)
        e[_BIASES] = e[_BIASES + 1] = 0  # none behind a row
    node.require(len(node.inputs) >= walk.n_leading, "inputs")
    tensors = _optional(node, e[_PRESENT], walk.n_leading)
    _check(node, walk, e, tensors)
    walk.check_weights(node, e)
    walk.set_shape(node, e)
    walk.bind(node, tensors)
    walk.bind_cell(_functions(node, walk.n_activations))
    return walk.n, walk.step


def choices(node):
    """present, option, clip, then the kind of each activation."""
    p = node.params
    node.require(len(p) >= _ACTIVATIONS, "params")
    kinds = [p[i] for i in range(_ACTIVATIONS, len(p), 3)]
    return [p[_PRESENT], p[_OPTION], p[_CLIP]] + kinds


def sizes(e):
    """batch, input_size, hidden, both biases."""
    return e[_BATCH:_X_STRIDES] + e[_BIASES:_DIRECTION]


def _optional(node, present, n_leading):
    """sequence_lens, initial h, initial c, P, Y, Y_h, Y_c: None where absent."""
    bits = [present >> i & 1 for i in range(7)]
    node.require(present < 128, "present")
    node.require(n_leading + sum(bits[:_N_OPTIONAL_INPUTS]) == len(node.inputs), "inputs")
    node.require(sum(bits[_N_OPTIONAL_INPUTS:]) == len(node.outputs), "outputs")
    there = node.inputs[n_leading:] + node.outputs
    return [there.pop(0) if bit else None for bit in bits]


def _check(node, walk, e, tensors):
    n, batch, width, hidden, x_t, x_b = e[:_BIASES]
    x, direction = node.inputs[0], e[_DIRECTION]
    lens, p, y = tensors[0], tensors[3], tensors[4]
    states = tensors[1:3] + tensors[5:]
    for first, last in zip(tensors[1:3], tensors[5:]):
        if first and last:
            node.over(last, first, 0)  # a step takes the one first and leaves the other last
    node.require(min(e[:_X_STRIDES]) > 0 and max(e[_REVERSE], e[_OPTION]) < 2, "sizes or flags")
    node.require(n * batch * width <= x.nelem, "x is too small")
    node.require((n - 1) * x_t + (batch - 1) * x_b + width <= x.nelem, "reads beyond x")
    node.require(walk.scratch_nelem(batch, hidden) <= node.scratch[0].nelem, "scratch size")
    node.expect_dtype("float32", x, node.scratch[0])
    node.expect_dtype("float32", *[t for t in states + [p, y] if t])
    if lens:
        node.expect_dtype("int32", lens)
        node.require(lens.nelem >= batch, "sequence_lens is too small")
    if p:
        node.require((direction + 1) * 3 * hidden <= p.nelem, "P is too small")
    if y:
        y_t, y_b = e[_Y_STRIDES:_S_FIRST]
        last = e[_Y_FIRST] + (n - 1) * y_t + (batch - 1) * y_b + hidden
        node.require(last <= y.nelem, "writes beyond Y")
    for t in states:
        last = e[_S_FIRST] + (batch - 1) * e[_S_STRIDE] + hidden
        node.require(t is None or last <= t.nelem, "a state is too small")


def _functions(node, n):
    """(kind, alpha, beta, clip) of each activation."""
    p = node.params
    clip = _float(p[_CLIP])
    found = []
    for i in range(_ACTIVATIONS, _ACTIVATIONS + 3 * n, 3):
        node.require(0 <= p[i] < _N_FUNCTIONS, "activation")
        bound = clip if len(found) < _N_CLIPPED else 0.0
        found.append((p[i], _float(p[i + 1]), _float(p[i + 2]), bound))
    return found


def _float(bits):
    return struct.unpack("<f", struct.pack("<i", bits))[0]


class Walk:
    """The extent is time steps. A kernel adds n_gates, n_states, n_activations, cell(h), calls().

    cell(h) makes the next state of the sequence whose h begins at scratch item h, with the
    functions self.acts. Its gates' sums over x begin at item self.from_x, those over h go to item
    self.from_h. calls(made, functions) adds the same to a cells.Calls, behind the sums over h.
    """

    n_leading, n_scratch = 3, 1  # inputs before those that may be absent
    in_blocks = False  # weights in block floating point

    def check_weights(self, node, e):
        w, r = node.inputs[1:3]
        width, hidden, w_bias, r_bias = e[_INPUT_SIZE], e[_HIDDEN], e[_BIASES], e[_BIASES + 1]
        rows = (e[_DIRECTION] + 1) * self.n_gates * hidden
        if self.in_blocks:
            return  # Products does
        node.expect_dtype("float32", w, r)
        node.require(max(w_bias, r_bias) < 2, "flags")
        node.require(rows * (width + w_bias) <= w.nelem, "W is too small")
        node.require(rows * (hidden + r_bias) <= r.nelem, "R is too small")

    def scratch_nelem(self, batch, hidden):
        return (self.n_states * batch + 2 * self.n_gates) * hidden

    def set_shape(self, node, e):
        self.name = node.name
        self.n, self.batch, width, hidden, self.x_t, self.x_b, w_bias, r_bias = e[:_DIRECTION]
        self.direction, self.reverse = e[_DIRECTION:_Y_FIRST]
        self.hidden, self.option = hidden, e[_OPTION]
        self.y_first, self.y_t, self.y_b, self.s_first, self.s_b = e[_Y_FIRST:_PRESENT]
        rows = self.n_gates * hidden
        self.from_x = self.n_states * self.batch * hidden
        self.from_h = self.from_x + rows
        w_first = self.direction * rows * (width + w_bias)
        r_first = self.direction * rows * (hidden + r_bias)
        self.wp = block(
            "dot.dots_f32",
            x_start=0,
            columns=width,
            out_start=self.from_x,
            out_stride=1,
            has_bias=w_bias,
            w_start=w_first,
            rows=rows,
        )
        self.rp = block(
            "dot.dots_f32",
            x_start=0,
            columns=hidden,
            out_start=self.from_h,
            out_stride=1,
            has_bias=r_bias,
            w_start=r_first,
            rows=rows,
        )
        self.copy_p = block(
            "move",
            start=0,
            end=1,
            rows=1,
            columns=hidden,
            x_plane_stride=0,
            x_row_stride=0,
            x_column_stride=0,  # with x_start and out_start: _row sets them
            out_plane_stride=0,
            out_row_stride=0,
            out_column_stride=1,
            x_start=0,
            out_start=0,
        )

    def bind(self, node, tensors):
        self.x, self.w, self.r = [t.data for t in node.inputs[:3]]
        self.s, self.bits = node.scratch[0].data, node.scratch[0].view("i")
        lens, p = tensors[0], tensors[3]
        self.lens = lens.data if lens else None
        self.peepholes = p.data if p else None
        views = [t.view("i") if t else None for t in tensors]
        self.initial, self.last = views[1:3][: self.n_states], views[5:][: self.n_states]
        self.y = views[4]
        self.zero = array("i", [0])
        if self.in_blocks:
            n = self.n_gates * self.hidden
            sizes, rows = (self.wp[_COLUMNS], self.rp[_COLUMNS]), (self.direction + 1) * n
            self.dots = _block_rows.Products(node, rows, n, sizes, self.biases).dots
        else:
            self.dots = forms.get("dot").dots_f32
        self.copy = forms.get("move").copy32

    def bind_cell(self, functions):
        """functions: (kind, alpha, beta, clip) of each activation."""
        if self.in_blocks:
            from ._cells import MISSING, STATE, Calls

            if not any([f[0] in MISSING for f in functions]):
                made = Calls(self.s, self.bits)
                self.rp[_DOT_X_START] = STATE
                made.call(self.dots, self.s, self.r, self.s, self.rp, (_DOT_X_START,))
                self.calls(made, functions)
                self.cell = made.run
                return
        self.in_floats(functions)

    def in_floats(self, functions):
        from . import _gates

        self.acts = [_gates.make(*f) for f in functions]

    def step(self, lo, hi):
        if lo == 0:
            self._start()
        while lo < hi:
            b = 0
            while b < self.batch:
                self._advance(lo, b)
                b += 1
            lo += 1
        if hi == self.n:
            self._finish()

    def _advance(self, i, b):
        """The i-th item of sequence b; zeros to Y behind its end."""
        length = self._length(b)
        y = self.y_first + i * self.y_t + b * self.y_b
        if i >= length:
            self._row(None, 0, self.y, y)
            return
        if self.reverse:
            y += (length - 1 - i - i) * self.y_t
            i = length - 1 - i
        self.wp[_DOT_X_START] = i * self.x_t + b * self.x_b
        self.dots(self.x, self.w, self.s, self.wp)
        self.cell(b * self.hidden)
        self._row(self.bits, b * self.hidden, self.y, y)

    def _length(self, b):
        n = self.n if self.lens is None else self.lens[b]
        if not 0 <= n <= self.n:
            raise InputError("{}: a length is outside 0 .. {}".format(self.name, self.n))
        return n

    def _start(self):
        state = 0
        while state < self.n_states:
            b = 0
            while b < self.batch:
                at = self._state(state, b)
                self._row(self.initial[state], self.s_first + b * self.s_b, self.bits, at)
                b += 1
            state += 1

    def _finish(self):
        state = 0
        while state < self.n_states:
            b = 0
            while b < self.batch:
                at, to = self._state(state, b), self.s_first + b * self.s_b
                self._row(self.bits if self._length(b) else None, at, self.last[state], to)
                b += 1
            state += 1

    def _state(self, state, b):
        return (state * self.batch + b) * self.hidden

    def _row(self, x, x_first, out, out_first):
        """out[out_first ...] = H items of x, or zeros if x is None; nothing if out is None."""
        if out is None:
            return
        self.copy_p[_X_COLUMN_STRIDE] = BIAS if x is None else BIAS + 1
        self.copy_p[_X_START] = BIAS if x is None else BIAS + x_first
        self.copy_p[_OUT_START] = BIAS + out_first
        self.copy(self.zero if x is None else x, self.zero, out, self.copy_p)
