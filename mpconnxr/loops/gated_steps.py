"""Time steps of a recurrent layer, by calls of loops/gated.

A step with inf or NaN is left to loops/gated_special.
"""

from ._words import set_at

# Parameters of steps
_STEP = 0  # first step [steps] 0..
_STEP_END = 1  # end, exclusive [steps] 0..
_STEPS = const(2)  # of the layer [steps] 1..
_IS_REVERSED = const(3)  # time runs backwards [flag] 0, 1
_BATCH = const(4)  # [sequences] 1..
_X_STEP_STRIDE = const(5)  # from step to step of x [elements] 0..
_X_BATCH_STRIDE = const(6)  # from sequence to sequence of x [elements] 0..
_Y_START = const(7)  # [elements] 0..
_Y_STEP_STRIDE = const(8)  # from step to step of Y [elements] 0..
_Y_BATCH_STRIDE = const(9)  # from sequence to sequence of Y [elements] 0..
_HIDDEN = 10  # of h [elements] 1..
_STATE_STRIDE = 11  # from sequence to sequence of h, for LSTM of c [elements] 1..
_HAS_Y = const(12)  # [flag] 0, 1
_KIND = 13  # LSTM, GRU, GRU that resets sums over h, RNN, RNN with Relu [kind] 0..4
_X_START = 14  # parameters of gated.row for x: start [elements] 0..
_X_ELEMENTS = 15  # [elements] 1..480
_X_ROW_START = const(16)  # index of the row in this block [words] 56
_X_TAIL_ELEMENTS = const(17)  # [elements] 0
_H_START = 18  # parameters of gated.row for the states: start [elements] 0..
_H_ELEMENTS = const(19)  # [elements] 1..480
_H_ROW_START = const(20)  # index of the row in this block [words] 58..
_H_TAIL_ELEMENTS = const(21)  # elements of c [elements] 0..480
_SUMS_X_ROW_START = 22  # parameters of gated.sums: start [elements] 0..
_SUMS_X_ELEMENTS = const(23)  # [elements] 0..480
_SUMS_H_ROW_START = const(24)  # [elements] 0..
_SUMS_H_ELEMENTS = const(25)  # [elements] 0..480
_SUMS_W_START = const(26)  # [elements] 0..
_SUMS_ROWS = const(27)  # [rows] 1..
_SUMS_OUT_START = const(28)  # [elements] 0..
_SUMS_HAS_ARGUMENTS = const(29)  # [flag] 0, 1
_NEW_X_ROW_START = 30  # parameters of gated.sums for new states of GRU: start [elements] 0..
_NEW_X_ELEMENTS = const(31)  # [elements] 0..480
_NEW_H_ROW_START = const(32)  # [elements] 0..
_NEW_H_ELEMENTS = const(33)  # [elements] 0..480
_NEW_W_START = 34  # [elements] 0..
_NEW_ROWS = const(35)  # [rows] 1..
_NEW_OUT_START = const(36)  # [elements] 0..
_NEW_HAS_ARGUMENTS = const(37)  # [flag] 0, 1
_OVER_H_X_ROW_START = 38  # parameters of gated.sums for sums to reset: start [elements] 0..
_OVER_H_X_ELEMENTS = const(39)  # [elements] 0
_OVER_H_H_ROW_START = const(40)  # [elements] 0..
_OVER_H_H_ELEMENTS = const(41)  # [elements] 0..480
_OVER_H_W_START = 42  # [elements] 0..
_OVER_H_ROWS = const(43)  # [rows] 1..
_OVER_H_OUT_START = const(44)  # [elements] 0..
_OVER_H_HAS_ARGUMENTS = const(45)  # [flag] 0
_CELL_ARGUMENTS_START = 46  # parameters of the cell's loop: start [elements] 0..
_CELL_ELEMENTS = const(47)  # [elements] 1..480
_CELL_H_START = const(48)  # [elements] 0..
_CELL_C_START = const(49)  # [elements] 0..
_RESET_START = 50  # parameters of gated.reset or reset_sums: start of r [elements] 0..
_RESET_ELEMENTS = const(51)  # [elements] 1..480
_RESET_OUT_START = const(52)  # [elements] 0..
_PUT_X_START = 53  # parameters of gated.put for h to Y: start [elements] 0..
_PUT_ELEMENTS = const(54)  # [elements] 1..480
_PUT_OUT_START = const(55)  # [elements] 0..
_ROWS = 56  # row of x, then row of h [words x n]


def steps(p: ptr32, w):
    """Compute steps step to step_end - 1.

    w lists loops row, sums, the cell's, the one before it (reset, reset_sums or small_sums), put,
    and the rare loop for inf and NaN; p; the parts of p for row of x and of h, sums of gates, of
    new states and over h, the cell's loop, the one before it, and put; x, weights, scratch, table,
    Y.

    Access: of the loops it calls
    """
    row, sums, cell, before, put, special = w[:6]
    whole, x_p, h_p, sums_p, new_p, over_h_p, cell_p, before_p, put_p = w[6:15]
    x, weights, scratch, table, y = w[15:20]
    step, end = p[_STEP], p[_STEP_END]
    while step < end:
        time = step
        if p[_IS_REVERSED]:
            time = p[_STEPS] - 1 - time
        sequence = 0
        while sequence < p[_BATCH]:
            state = sequence * p[_STATE_STRIDE]
            i = set_at(p, _X_START, time * p[_X_STEP_STRIDE] + sequence * p[_X_BATCH_STRIDE])
            p[i + (_H_START - _X_START)] = state
            i = set_at(p, _CELL_H_START, state)
            p[i + (_CELL_C_START - _CELL_H_START)] = state + p[_HIDDEN]
            p[i + (_PUT_X_START - _CELL_H_START)] = state
            p[i + (_PUT_OUT_START - _CELL_H_START)] = (
                p[_Y_START] + time * p[_Y_STEP_STRIDE] + sequence * p[_Y_BATCH_STRIDE]
            )
            row(x, x, whole, x_p)
            row(scratch, scratch, whole, h_p)
            if p[p[_X_ROW_START]] == 255 or p[p[_H_ROW_START]] == 255:
                special(whole, w)
            else:
                if p[_KIND] < 4:
                    sums(whole, weights, scratch, sums_p)
                if p[_KIND]:
                    if p[_KIND] == 1:
                        before(scratch, table, whole, before_p)
                        sums(whole, weights, scratch, new_p)
                    elif p[_KIND] > 2:
                        before(whole, weights, scratch, sums_p)
                    else:
                        sums(whole, weights, scratch, new_p)
                        sums(whole, weights, scratch, over_h_p)
                        before(scratch, table, scratch, before_p)
                cell(scratch, table, scratch, cell_p)
            if p[_HAS_Y]:
                put(scratch, scratch, y, put_p)
            sequence += 1
        step += 1
