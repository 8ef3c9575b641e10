"""gated: LSTM, GRU or RNN in fixed point, one direction.

Serves these operators (opset 7 on) with their default activations, constant weights, and at most
480 elements of x and of h (120 for RNN).

    LSTM  i, o, f = sigmoid(x . W' + h . R' + bias);  g = tanh(x . Wc' + h . Rc' + bias)
          c = f * c + i * g;  h = o * tanh(c)
    GRU   z, r = sigmoid(x . W' + h . R' + bias);  n = tanh(x . Wn' + (r * h) . Rn' + bias)
          or, with linear_before_reset, n = tanh(x . Wn' + bias + r * (h . Rn' + bias))
          h = (1 - z) * n + z * h
    RNN   h = tanh(x . W' + h . R' + bias), or with Relu instead of tanh

All is computed in integers (see loops/gated). A time step is a few calls from machine code (see
loops/gated_steps); one with inf or NaN is computed with floats.

    inputs   x float32; rows of weights int32 (see loops/gated); table int32 (117, 3); then, by the
             bits of `present`: initial h, initial c float32
    outputs  by the bits of `present`: Y, Y_h, Y_c float32
    scratch  float32: h of each sequence, for LSTM also c; then the sums of the gates
Raises ModelError. A step allocates nothing unless a value is inf or NaN.
"""

from .. import forms
from ..blocks import block
from ..loops.gated_steps import (
    _CELL_ARGUMENTS_START,
    _H_START,
    _NEW_X_ROW_START,
    _OVER_H_X_ROW_START,
    _PUT_X_START,
    _RESET_START,
    _SUMS_X_ROW_START,
    _X_START,
)
from ..loops.gated_steps import _ROWS as _MANTISSAS

# params
_KIND = const(0)  # 0 RNN, 1 GRU, 2 GRU with linear_before_reset, 3 LSTM, 4 RNN with Relu
_SEQ = const(1)
_BATCH = const(2)
_INPUT_SIZE = const(3)
_HIDDEN = const(4)
_X_STRIDES = const(5)  # [t, b] elements between time steps and between sequences
_REVERSE = const(7)  # flag
_Y_FIRST = const(8)
_Y_STRIDES = const(9)  # [t, b]
_S_FIRST = const(11)  # start of initial and last states
_S_STRIDE = const(12)  # between sequences
_PRESENT = const(13)  # bits: initial h 1, initial c 2, Y 4, Y_h 8, Y_c 16
_N_PARAMS = const(14)

CALLS = True
STREAMS = (1, 2)
_MOST = (120, 480, 480, 480, 120)  # elements of x, and of h, by kind
_LEADING = 3  # inputs before the optional ones
_TABLE = 351
_GRU = 1
_LSTM = 3
_RELU = 4
_ROWS = (1, 3, 2, 4, 1)  # rows of weights per element of h, by kind
WORDS = (2, 3, 6, 4, 2)  # words of scratch per element of h, by kind
_LOOPS = (
    ("rnn", "small_sums"),
    ("renew", "reset"),
    ("renew", "reset_sums"),
    ("lstm", "lstm"),
    ("relu", "small_sums"),
)
_OF_STEPS = (3, 1, 2, 0, 4)  # kind in loops/gated_steps, by kind


def prepare(node, calls):
    e = node.extents(0, _N_PARAMS)
    present = [e[_PRESENT] >> i & 1 for i in range(5)]
    node.require(e[_PRESENT] < 32 and e[_KIND] <= _RELU and e[_REVERSE] < 2, "kind or flags")
    n_states = 2 if e[_KIND] == _LSTM else 1
    node.require(n_states == 2 or not present[1] + present[4], "c")
    n_inputs = _LEADING + sum(present[:2])
    node.expect(n_inputs, sum(present[2:]), _N_PARAMS, 1)
    there = node.inputs[_LEADING:] + node.outputs
    tensors = [there.pop(0) if bit else None for bit in present]
    _check(node, e, tensors, n_states)
    _emit(node, calls, e, tensors, n_states)


def _check(node, e, tensors, n_states):
    seq, batch, width, n, x_t, x_b = e[_SEQ:_REVERSE]
    x, weights, table = node.inputs[:_LEADING]
    y, states = tensors[2], tensors[:2] + tensors[3:]
    for first, last in zip(tensors[:2], tensors[3:]):
        if first and last:
            node.over(last, first, 0)  # a step reads the initial state before it writes the last
    node.require(min(seq, batch, width, n) > 0 and max(width, n) <= _MOST[e[_KIND]], "sizes")
    node.expect_dtype("float32", x, node.scratch[0])
    node.expect_dtype("float32", *[t for t in tensors if t])
    node.expect_dtype("int32", weights, table)
    kind = e[_KIND]
    more = (1, 0, width + n + 5, 0, 1)[kind]
    size = _ROWS[kind] * (width + n + 3) + more
    node.require(n * size <= weights.nelem and _TABLE <= table.nelem, "weights or table")
    node.require(n * (n_states * batch + WORDS[kind]) <= node.scratch[0].nelem, "scratch size")
    node.require((seq - 1) * x_t + (batch - 1) * x_b + width <= x.nelem, "reads beyond x")
    if y:
        y_t, y_b = e[_Y_STRIDES:_S_FIRST]
        last = e[_Y_FIRST] + (seq - 1) * y_t + (batch - 1) * y_b + n
        node.require(last <= y.nelem, "writes beyond Y")
    for t in states:
        last = e[_S_FIRST] + (batch - 1) * e[_S_STRIDE] + n
        node.require(t is None or last <= t.nelem, "a state is too small")


def _emit(node, calls, e, tensors, n_states):
    """Emit the time steps, between the copies of the initial and of the last states."""
    y = tensors[2]
    scratch, copy = calls.place(node.scratch[0], "i"), forms.get("move").copy32
    outside = e[_S_STRIDE], 1, e[_S_FIRST]
    for i in range(n_states):
        inside = n_states * e[_HIDDEN], 1, i * e[_HIDDEN]
        x, at = calls.constants("i", [0]), (0, 0, 0)
        if tensors[i]:
            x, at = calls.place(tensors[i], "i"), outside
        calls.call(copy, x, None, scratch, _copy_p(e, at, inside))
    steps, needs = forms.get("gated_steps").steps, _needs(calls, e[_KIND], node, y)
    for step, step_end in calls.parts(e[_SEQ], e[_BATCH] * e[_HIDDEN] * e[_INPUT_SIZE]):
        calls.drive(steps, _steps_p(e, n_states, y is not None, step, step_end), needs)
    for i in range(n_states):
        if tensors[i + 3]:
            inside = n_states * e[_HIDDEN], 1, i * e[_HIDDEN]
            out = calls.place(tensors[i + 3], "i")
            calls.call(copy, scratch, None, out, _copy_p(e, inside, outside))


def _steps_p(e, n_states, has_y, step, step_end):
    """Return the block of these time steps."""
    kind, seq, batch, width, n = e[: _HIDDEN + 1]
    is_gru, at, h_at = kind == _GRU, n_states * n * batch, _MANTISSAS + 1 + width
    row, rows = width + n + 3, _ROWS[kind] * n
    gates = 2 * n if is_gru else rows  # rows whose sums come first
    y_start, y_step_stride, y_batch_stride = e[_Y_FIRST:_S_FIRST]
    x_step_stride, x_batch_stride = e[_X_STRIDES:_REVERSE]
    return block(
        "gated_steps",
        step=step,
        step_end=step_end,
        steps=seq,
        is_reversed=e[_REVERSE],
        batch=batch,
        x_step_stride=x_step_stride,
        x_batch_stride=x_batch_stride,
        y_start=y_start,
        y_step_stride=y_step_stride,
        y_batch_stride=y_batch_stride,
        hidden=n,
        state_stride=n_states * n,
        has_y=int(has_y),
        kind=_OF_STEPS[kind],
        x_start=0,
        x_elements=width,
        x_row_start=_MANTISSAS,
        x_tail_elements=0,
        h_start=0,
        h_elements=n,
        h_row_start=h_at,
        h_tail_elements=n_states * n - n,
        sums_x_row_start=_MANTISSAS,
        sums_x_elements=width,
        sums_h_row_start=h_at,
        sums_h_elements=n,
        sums_w_start=0,
        sums_rows=gates,
        sums_out_start=at,
        sums_has_arguments=int(kind != _RELU),
        new_x_row_start=_MANTISSAS,
        new_x_elements=width,
        new_h_row_start=h_at,
        new_h_elements=n if is_gru else 0,
        new_w_start=gates * row,
        new_rows=n,
        new_out_start=at + 2 * n,
        new_has_arguments=int(is_gru),
        over_h_x_row_start=_MANTISSAS,
        over_h_x_elements=0,
        over_h_h_row_start=h_at,
        over_h_h_elements=n,
        over_h_w_start=rows * row + n * (width + 2),
        over_h_rows=n,
        over_h_out_start=at + 4 * n,
        over_h_has_arguments=0,
        cell_arguments_start=at,
        cell_elements=n,
        cell_h_start=0,
        cell_c_start=0,
        reset_start=at + n,
        reset_elements=n,
        reset_out_start=h_at + 1,
        put_x_start=0,
        put_elements=n,
        put_out_start=0,
        rows=[0] * (2 + width + n),
    )


def _needs(calls, kind, node, y):
    """Return the list of loops, views and blocks that loops/gated_steps takes."""
    loops, scratch = forms.get("gated"), calls.place(node.scratch[0], "i")
    cell, before = [getattr(loops, name) for name in _LOOPS[kind]]
    needs = [loops.row, loops.sums, cell, before, loops.put]
    needs += [calls.later("gated_special", "step"), calls.part()]
    ends = (
        _X_START,
        _H_START,
        _SUMS_X_ROW_START,
        _NEW_X_ROW_START,
        _OVER_H_X_ROW_START,
        _CELL_ARGUMENTS_START,
        _RESET_START,
        _PUT_X_START,
        _MANTISSAS,
    )
    needs += [calls.part(ends[i], ends[i + 1]) for i in range(8)]
    x, weights, table = node.inputs[:_LEADING]
    needs += [calls.place(x, "i"), calls.place(weights), scratch, calls.place(table)]
    needs.append(scratch if y is None else calls.place(y, "i"))
    return needs


def _copy_p(e, x, out):
    """Return the block that copies the batch's states.

    x and out are (stride between states, stride between elements, start).
    """
    return block(
        "move",
        start=0,
        end=e[_BATCH],
        rows=1,
        columns=e[_HIDDEN],
        x_plane_stride=x[0],
        x_row_stride=0,
        x_column_stride=x[1],
        out_plane_stride=out[0],
        out_row_stride=0,
        out_column_stride=out[1],
        x_start=x[2],
        out_start=out[2],
    )
