"""Time steps of a recurrent layer, by calls of loops/gated. Written once, for Python and viper.

p     0  first step, end, steps of the layer, 1: backwards; sequences
      5  items of x from step to step and from sequence to sequence; first of Y, the same of Y
     10  n, states of a sequence (n or 2 * n), 1: has Y; 0 LSTM, 1 GRU, 2 GRU whose sums over h are
         reset, 3 RNN
     14  what row takes of x, 18 of h; 22 sums; 30 those of a new state, 38 of what is reset
     46  the cell's loop, 50 what goes before, 53 what puts h to Y
     56  mantissas of x, then of h

A step with inf or nan is left to loops/gated_special.
"""

from ._words import set_at


def steps(p: ptr32, w):
    """w: loops row, sums, that of the cell, that which goes before, put; for what is not finite;
    p, and its parts from 14 on; x, weights, scratch, table, Y

    Access: of the loops it calls
    """
    row, sums, cell, before, put, special = w[:6]
    whole, x_p, h_p, sums_p, new_p, more_p, cell_p, before_p, put_p = w[6:15]
    x, weights, scratch, table, y = w[15:20]
    while p[0] < p[1]:
        t = p[0]
        if p[3]:
            t = p[2] - 1 - t
        b = 0
        while b < p[4]:
            h = b * p[11]
            i = set_at(p, 14, t * p[5] + b * p[6])
            p[i + 4] = h
            i = set_at(p, 48, h)
            p[i + 1] = h + p[10]
            p[i + 5] = h
            p[i + 7] = p[7] + t * p[8] + b * p[9]
            row(x, x, whole, x_p)
            row(scratch, scratch, whole, h_p)
            if p[p[16]] == 255 or p[p[20]] == 255:
                special(whole, w)
            else:
                if p[13] < 4:
                    sums(whole, weights, scratch, sums_p)
                if p[13]:
                    if p[13] == 1:
                        before(scratch, table, whole, before_p)
                        sums(whole, weights, scratch, new_p)
                    elif p[13] > 2:
                        before(whole, weights, scratch, sums_p)
                    else:
                        sums(whole, weights, scratch, new_p)
                        sums(whole, weights, scratch, more_p)
                        before(scratch, table, scratch, before_p)
                cell(scratch, table, scratch, cell_p)
            if p[12]:
                put(scratch, scratch, y, put_p)
            b += 1
        i = set_at(p, 0, p[0] + 1)
