"""Time steps of lstm, gru, rnn and dynamic_lstm in one direction, and the checks of their nodes.

For each time step t in order (in reverse from the last one, or from a sequence's own end), and in
it for each sequence b of the batch, the loops of gemm or block_gemm compute the gate sums x[t, b]
. W' + bias and h . R' + bias, the kernel's cell computes the new state from them, and h is copied
to Y. Only the sums of one time step of one sequence are held: those of a whole one would take far
more memory.

    inputs   x float32; W float32, rows (gates * H, I + w_bias) per direction; R float32, rows
             (gates * H, H + r_bias) per direction (each bias lies behind its row). With a second
             scratch, in block floating point (see _block): mantissas of W and R, exponents of W
             and R, then biases as w_bias and r_bias say. Then, by the bits of `present`:
             sequence_lens int32 (B), initial h and c float32, P float32 (3 * H per direction)
    outputs  by the bits of `present`: Y, Y_h, Y_c float32
    scratch  float32: h (B, H), for lstm also c (B, H), then two times the sums (gates, H); int32
             for products in block floating point

Behind a sequence's end Y is 0. The last states are those at its end, or 0 if its length is 0. clip
limits the arguments of the gates' functions as onnxruntime does (not of the third function of
lstm). Raises ModelError, and InputError at run time for a length outside of 0 .. T. A step
allocates only floats: for a value that is inf or NaN in block floating point, and for an
activation that has no loop.

Kinds of activations, in ONNX's order: 0 Relu, 1 Tanh, 2 Sigmoid, 3 Affine, 4 LeakyRelu, 5
ThresholdedRelu, 6 ScaledTanh, 7 HardSigmoid, 8 Elu, 9 Softsign, 10 Softplus.

All of this becomes a table of calls, except where the node has sequence_lens or an activation has
no loop (see _cells). There, Python makes the same calls (see _walk).
"""

import struct

from .. import forms
from ..blocks import block
from ._cells import MISSING, CellMath

# params
_SEQ = const(0)
_BATCH = const(1)
_INPUT_SIZE = const(2)
_HIDDEN = const(3)
_X_STRIDES = const(4)  # [t, b] elements between time steps and between sequences
_BIASES = const(6)  # [w, r] flags: there are biases; dynamic_lstm: zero points, unsigned
_DIRECTION = const(8)  # index into W, R, P
_REVERSE = const(9)  # flag
_Y_FIRST = const(10)
_Y_STRIDES = const(11)  # [t, b]
_S_FIRST = const(13)  # start of initial and last states
_S_STRIDE = const(14)  # between sequences
_PRESENT = const(15)  # bits: sequence_lens 1, initial h 2, initial c 4, P 8, Y 16, Y_h 32, Y_c 64
_OPTION = const(16)  # the kernel's own flag
_CLIP = const(17)  # float; 0: none
_ACTIVATIONS = const(18)  # [*] any; per activation its kind, and alpha and beta as bits of floats

_N_OPTIONAL_INPUTS = 4
_N_FUNCTIONS = 11  # kinds of activations
_N_CLIPPED = 2  # leading functions that clip applies to


def prepare(node, calls, walk):
    """Emit the calls of a kernel's Walk; return (n, step) where Python must make them."""
    if walk.n_leading == 3 and len(node.scratch) == 2:  # not dynamic_lstm, which has more inputs
        walk.in_blocks, walk.n_scratch = True, 2
    n_params = _ACTIVATIONS + 3 * walk.n_activations
    node.expect(len(node.inputs), len(node.outputs), n_params, walk.n_scratch)
    e = node.extents(0, _CLIP)
    if walk.in_blocks:
        node.require(max(e[_BIASES:_DIRECTION]) < 2, "flags")
        walk.biases = e[_BIASES:_DIRECTION]
        walk.n_leading = 5 + sum(walk.biases)
        e[_BIASES] = e[_BIASES + 1] = 0  # biases are tensors, not behind rows
    node.require(len(node.inputs) >= walk.n_leading, "inputs")
    tensors = _optional(node, e[_PRESENT], walk.n_leading)
    _check(node, walk, e, tensors)
    walk.check_weights(node, e)
    walk.set_shape(node, e, tensors)
    walk.functions = _functions(node, walk.n_activations)
    if walk.lens or walk.is_of_python():
        from ._walk import Walked

        return walk.n, Walked(walk, node).step
    walk.bind(node, calls)
    walk.emit(calls)


def choices(node):
    """Return present, option, clip, then the kind of each activation."""
    p = node.params
    node.require(len(p) >= _ACTIVATIONS, "params")
    kinds = [p[i] for i in range(_ACTIVATIONS, len(p), 3)]
    return [p[_PRESENT], p[_OPTION], p[_CLIP]] + kinds


def has_lengths(node):
    """Return True if the node has sequence_lens, which Python reads in each run."""
    return choices(node)[0] & 1


def sizes(e):
    """Return batch, input_size, hidden, and the two flags of biases."""
    return e[_BATCH:_X_STRIDES] + e[_BIASES:_DIRECTION]


def _optional(node, present, n_leading):
    """Return sequence_lens, initial h, initial c, P, Y, Y_h, Y_c; None for each that is absent."""
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
            node.over(last, first, 0)  # a step reads the initial state before it writes the last
    node.require(min(e[:_X_STRIDES]) > 0 and max(e[_REVERSE], e[_OPTION]) < 2, "sizes or flags")
    # All rows, which bounds the work of a run: strides of 0 read one row again and again.
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
    """Return a list of (kind, alpha, beta, clip), one for each activation."""
    p = node.params
    clip = _float(p[_CLIP])
    functions = []
    for i in range(_ACTIVATIONS, _ACTIVATIONS + 3 * n, 3):
        node.require(0 <= p[i] < _N_FUNCTIONS, "activation")
        bound = clip if len(functions) < _N_CLIPPED else 0.0
        functions.append((p[i], _float(p[i + 1]), _float(p[i + 2]), bound))
    return functions


def _float(bits):
    return struct.unpack("<f", struct.pack("<i", bits))[0]


class Walk:
    """Emitter of one node's calls.

    A kernel's subclass adds n_gates, n_states, n_activations and cell(calls, h), which emits the
    next state of the sequence whose h starts at element h of the scratch. The gate sums over x
    start at x_sums, those over h at h_sums; by default both are computed before the cell.

    Attributes:
        functions: (kind, alpha, beta, clip) of each activation.
        lens: Tensor sequence_lens, or None.
    """

    n_leading, n_scratch = 3, 1  # inputs before the optional ones
    in_blocks = False  # weights in block floating point

    def check_weights(self, node, e):
        w, r = node.inputs[1:3]
        width, hidden, w_bias, r_bias = e[_INPUT_SIZE], e[_HIDDEN], e[_BIASES], e[_BIASES + 1]
        rows = (e[_DIRECTION] + 1) * self.n_gates * hidden
        if self.in_blocks:
            return  # _block_rows checks them, with their dtypes
        node.expect_dtype("float32", w, r)
        node.require(max(w_bias, r_bias) < 2, "flags")
        node.require(rows * (width + w_bias) <= w.nelem, "W is too small")
        node.require(rows * (hidden + r_bias) <= r.nelem, "R is too small")

    def scratch_nelem(self, batch, hidden):
        return (self.n_states * batch + 2 * self.n_gates) * hidden

    def set_shape(self, node, e, tensors):
        self.name = node.name
        self.n, self.batch, self.width, self.hidden, self.x_t, self.x_b = e[:_BIASES]
        self.has_bias = e[_BIASES:_DIRECTION]
        self.direction, self.reverse = e[_DIRECTION:_Y_FIRST]
        self.option = e[_OPTION]
        self.y_first, self.y_t, self.y_b, self.s_first, self.s_b = e[_Y_FIRST:_PRESENT]
        self.rows = self.n_gates * self.hidden
        self.x_sums = self.n_states * self.batch * self.hidden
        self.h_sums = self.x_sums + self.rows
        self.lens, self.peepholes, self.y = tensors[0], tensors[3], tensors[4]
        self.initial, self.last = tensors[1:3][: self.n_states], tensors[5:][: self.n_states]
        self.scratch = node.scratch[0]

    def is_of_python(self):
        """Return True if an activation has no loop, so that Python must make the calls."""
        return any([about[0] in MISSING for about in self.functions])

    def bind(self, node, calls):
        """Create the views and loops that all calls share."""
        self.math = CellMath(calls, self.scratch)
        self.bits = self.math.bits
        if self.in_blocks:
            from ._block_rows import Products

            sizes, rows = (self.width, self.hidden), (self.direction + 1) * self.rows
            self.products = Products(node, calls, rows, self.rows, sizes, self.biases)
        else:
            self.loop = forms.get("dot").dots_f32
            self.of_x = calls.place(node.inputs[0]), calls.place(node.inputs[1])
            self.of_h = calls.place(self.scratch), calls.place(node.inputs[2])

    def emit(self, calls):
        self.begin(calls)
        for i in calls.repeat(self.n):
            self.begin_step(calls)
            time = self.n - 1 - i if self.reverse else i
            for b in calls.repeat(self.batch):
                self.next_state(calls, time * self.x_t + b * self.x_b, b * self.hidden)
                if self.y:
                    at = self.y_first + time * self.y_t + b * self.y_b
                    self.put(calls, b * self.hidden, at)
        self.end(calls)

    def begin(self, calls):
        """Emit the copies of the batch's initial states to the scratch."""
        for state in range(self.n_states):
            x, outside = calls.constants("i", [0]), (0, 0, 0)
            if self.initial[state]:
                x = calls.place(self.initial[state], "i")
                outside = self.s_b, 1, self.s_first
            inside = self.hidden, 1, state * self.batch * self.hidden
            self._copy(calls, x, outside, self.bits, inside)

    def begin_step(self, calls):
        """Emit what precedes the first sequence of a time step."""

    def next_state(self, calls, x_start, h):
        """Emit the next state of a sequence: input at x_start, h at element h of the scratch."""
        first = self.direction * self.rows
        self.dots(calls, 0, x_start, first, self.rows, self.x_sums)
        self.dots(calls, 1, h, first, self.rows, self.h_sums)
        self.cell(calls, h)

    def dots(self, calls, which, x_start, first, rows, out):
        """Emit products of a row with rows of W (which = 0) or R (1), from row `first` on."""
        if self.in_blocks:
            self.products.dots(calls, which, x_start, first, rows, out)
            return
        x, w = self.of_h if which else self.of_x
        columns, has_bias = self.hidden if which else self.width, self.has_bias[which]
        p = block(
            "dot.dots_f32",
            x_start=x_start,
            columns=columns,
            out_start=out,
            out_stride=1,
            has_bias=has_bias,
            w_start=first * (columns + has_bias),
            rows=rows,
        )
        calls.call(self.loop, x, w, self.math.floats, p)

    def put(self, calls, h, at):
        """Emit the copy of an h to Y, from element `at` on."""
        place = calls.place(self.y, "i")
        self._copy(calls, self.bits, (0, 1, h), place, (0, 1, at), 1)

    def clear(self, calls, t, at):
        """Emit zeros for an h in tensor t, from element `at` on."""
        zero, out = calls.constants("i", [0]), calls.place(t, "i")
        self._copy(calls, zero, (0, 0, 0), out, (0, 1, at), 1)

    def end(self, calls):
        """Emit the copies of the batch's last states to the outputs."""
        for state in range(self.n_states):
            if self.last[state]:
                inside = self.hidden, 1, state * self.batch * self.hidden
                out = calls.place(self.last[state], "i")
                self._copy(calls, self.bits, inside, out, (self.s_b, 1, self.s_first))

    def _copy(self, calls, x, of_x, out, of_out, n=None, columns=None):
        """Emit a copy of n states of `columns` elements, by default the batch of hidden elements.

        of_x and of_out are (stride between states, stride between elements, start) in x and in
        out.
        """
        p = block(
            "move",
            start=0,
            end=n or self.batch,
            rows=1,
            columns=columns or self.hidden,
            x_plane_stride=of_x[0],
            x_row_stride=0,
            x_column_stride=of_x[1],
            out_plane_stride=of_out[0],
            out_row_stride=0,
            out_column_stride=of_out[1],
            x_start=of_x[2],
            out_start=of_out[2],
        )
        calls.call(forms.get("move").copy32, x, None, out, p)
