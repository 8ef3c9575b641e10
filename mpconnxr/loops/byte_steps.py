"""Time steps of an LSTM of bytes, by calls of other loops. Written once, for Python and viper.

p     0  first step, end; n, sequences; 1: backwards; 1: has Y
      6  items of x from step to step and from sequence to sequence; first of Y, the same of Y
     11  items of x in a step, first item of the first record of h, bytes of one
     14  what ends and choose take of h, 19 to_bytes of x, 24 of h; 29 qdots32 of x, 44 of h
     59  what arguments takes, 63 the cell's loop, 67 what puts h to Y
     70  scale, zero point and inverse of the scale of x; 73 ends of h, 75 the same of h
     78  of each sequence its time steps
"""

from ._words import set_at


def steps(p: ptr32, w):
    """w: loops ends, choose, to_bytes, qdots32, arguments, that of the cell, put; p, and its
    parts from 14 on, to_bytes' words last; ends of h, and the zero point of h;
    x, W, R, factors, states with room for sums, records, table, Y

    Access: of the loops it calls
    """
    ends, choose, to_bytes, qdots, arguments, cell, put = w[:7]
    whole, ends_p, x_p, h_p, of_x_p, of_h_p, arguments_p, cell_p, put_p = w[7:16]
    x_words, found, h_words, zero = w[16:20]
    x, weights, recurrent, factors, states, records, table, y = w[20:28]
    while p[0] < p[1]:
        ends(states, states, found, ends_p)
        choose(found, zero, found, ends_p)
        b = 0
        while b < p[3]:
            i = set_at(p, 24, b * p[2])
            p[i + 1] = p[i] + p[2]
            p[i + 4] = p[12] + b * p[13]
            to_bytes(states, h_words, records, h_p)
            b += 1
        b = 0
        while b < p[3]:
            if p[0] < p[78 + b]:
                t = p[0]
                if p[4]:
                    t = p[78 + b] - 1 - t
                h = b * p[2]
                i = set_at(p, 19, t * p[6] + b * p[7])
                p[i + 1] = p[i] + p[11]
                i = set_at(p, 56, p[12] + b * p[13])
                p[i + 9] = h
                p[i + 10] = h + p[3] * p[2]
                p[i + 11] = h
                p[i + 13] = p[8] + t * p[9] + b * p[10]
                to_bytes(x, x_words, records, x_p)
                qdots(records, weights, states, of_x_p)
                qdots(records, recurrent, states, of_h_p)
                arguments(whole, factors, states, arguments_p)
                cell(states, table, states, cell_p)
                if p[5]:
                    put(states, states, y, put_p)
            b += 1
        i = set_at(p, 0, p[0] + 1)
