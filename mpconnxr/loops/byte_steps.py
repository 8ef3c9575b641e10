"""Time steps of an LSTM on bytes, by calls of other loops.

x, and the h of each time step, are quantized by their own range.
"""

from ._words import set_at

# Parameters of steps
_STEP = 0  # next step [steps] 0..
_STEP_END = 1  # end, exclusive [steps] 0..
_HIDDEN = const(2)  # of h [elements] 1..8192
_BATCH = const(3)  # [sequences] 1..
_IS_REVERSED = const(4)  # time runs backwards [flag] 0, 1
_HAS_Y = const(5)  # [flag] 0, 1
_X_STEP_STRIDE = const(6)  # from step to step of x [elements] 0..
_X_BATCH_STRIDE = const(7)  # from sequence to sequence of x [elements] 0..
_Y_START = const(8)  # [elements] 0..
_Y_STEP_STRIDE = const(9)  # from step to step of Y [elements] 0..
_Y_BATCH_STRIDE = const(10)  # from sequence to sequence of Y [elements] 0..
_X_ELEMENTS = const(11)  # of x in a step [elements] 1..8192
_RECORDS_START = const(12)  # start of the bytes of h in its first record [bytes] 0..
_RECORD_STRIDE = const(13)  # from record to record of h [bytes] 0..
_ENDS_X_START = 14  # of dynamic_quantize.ends and choose for all h: start [elements] 0
_ENDS_X_END = const(15)  # [elements] 1..
_ENDS_MASK = const(16)  # [mask] 2**31 - 1
_ENDS_INFINITY = const(17)  # [bits of a float32] 2139095040
_ENDS_OUT_START = const(18)  # [elements] 2
_X_START = 19  # parameters of dynamic_quantize.to_bytes for x: start [elements] 0..
_X_END = const(20)  # [elements] 0..
_X_MASK = const(21)  # [mask] 2**31 - 1
_X_INFINITY = const(22)  # [bits of a float32] 2139095040
_X_OUT_START = const(23)  # [elements] 4
_H_START = 24  # parameters of dynamic_quantize.to_bytes for h: start [elements] 0..
_H_END = const(25)  # [elements] 0..
_H_MASK = const(26)  # [mask] 2**31 - 1
_H_INFINITY = const(27)  # [bits of a float32] 2139095040
_H_OUT_START = const(28)  # [elements] 0..
_X_DOTS = 29  # parameters of qdot32.qdots32 for x [words x 15]
_H_DOTS = 44  # parameters of qdot32.qdots32 for h, up to x_start [words x 12]
_H_DOTS_X_START = const(56)  # [bytes] 0..
_H_DOTS_X_POSITION_STRIDE = const(57)  # [bytes] 0
_H_DOTS_HAS_SUMS = const(58)  # [flag] 0
_ARGUMENTS_OUT_START = 59  # parameters of byte_gates.arguments: start [elements] 0..
_ARGUMENTS_ROWS = const(60)  # [rows] 1..
_ARGUMENTS_X_SCALE_START = const(61)  # [elements] 2
_ARGUMENTS_H_SCALE_START = const(62)  # [elements] 7
_CELL_ARGUMENTS_START = 63  # parameters of the cell's loop: start [elements] 0..
_CELL_ELEMENTS = const(64)  # [elements] 1..8192
_CELL_H_START = const(65)  # [elements] 0..
_CELL_C_START = const(66)  # [elements] 0..
_PUT_X_START = 67  # parameters of gated.put for h to Y: start [elements] 0..
_PUT_ELEMENTS = const(68)  # [elements] 1..8192
_PUT_OUT_START = const(69)  # [elements] 0..
_STEPS = 70  # of a sequence [steps] 1..


def steps(p: ptr32, w):
    """Compute steps step to step_end - 1.

    w lists loops ends, choose, to_bytes, qdots32, arguments, the cell's loop, put; the parts of p
    for ends, to_bytes of x and of h, qdots32 of x and of h, arguments, the cell's loop, put, and
    the two zero points; x, W, R, factors, the states with the sums behind them, records, table, Y;
    the ranges, and views of them that start at the range of x, at that of h, and at the scale of
    each. The ranges hold for x, then for h, the largest value, the magnitude of the least, scale,
    zero point and inverse scale. The caller has set the first two of x.

    Access: of the loops it calls
    """
    ends, choose, to_bytes, qdots, arguments, cell, put = w[:7]
    ends_p, x_p, h_p, of_x_p, of_h_p, arguments_p, cell_p, put_p = w[7:15]
    x_zero, h_zero = w[15], w[16]
    x, weights, recurrent, factors, states, records, table, y = w[17:25]
    ranges, of_x, of_h, x_words, h_words = w[25:30]
    choose(of_x, x_zero, of_x, ends_p)
    first = p[_STEP]
    while p[_STEP] < p[_STEP_END]:
        ends(states, states, of_h, ends_p)
        choose(of_h, h_zero, of_h, ends_p)
        sequence = 0
        while sequence < p[_BATCH]:
            i = set_at(p, _H_START, sequence * p[_HIDDEN])
            p[i + (_H_END - _H_START)] = p[i] + p[_HIDDEN]
            p[i + (_H_OUT_START - _H_START)] = p[_RECORDS_START] + sequence * p[_RECORD_STRIDE]
            to_bytes(states, h_words, records, h_p)
            sequence += 1
        sequence = 0
        while sequence < p[_BATCH]:
            time = p[_STEP]
            if p[_IS_REVERSED]:
                time = p[_STEPS] - 1 - time
            state = sequence * p[_HIDDEN]
            i = set_at(p, _X_START, time * p[_X_STEP_STRIDE] + sequence * p[_X_BATCH_STRIDE])
            p[i + (_X_END - _X_START)] = p[i] + p[_X_ELEMENTS]
            i = set_at(p, _H_DOTS_X_START, p[_RECORDS_START] + sequence * p[_RECORD_STRIDE])
            p[i + (_CELL_H_START - _H_DOTS_X_START)] = state
            p[i + (_CELL_C_START - _H_DOTS_X_START)] = state + p[_BATCH] * p[_HIDDEN]
            p[i + (_PUT_X_START - _H_DOTS_X_START)] = state
            p[i + (_PUT_OUT_START - _H_DOTS_X_START)] = (
                p[_Y_START] + time * p[_Y_STEP_STRIDE] + sequence * p[_Y_BATCH_STRIDE]
            )
            to_bytes(x, x_words, records, x_p)
            qdots(records, weights, states, of_x_p)
            qdots(records, recurrent, states, of_h_p)
            arguments(ranges, factors, states, arguments_p)
            cell(states, table, states, cell_p)
            if p[_HAS_Y]:
                put(states, states, y, put_p)
            sequence += 1
        i = set_at(p, _STEP, p[_STEP] + 1)
    i = set_at(p, _STEP, first)
