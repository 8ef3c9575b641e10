"""Rows of a convolution in block floating point, by calls of loops/block and loops/block_dot.

A row's positions go in pieces: some become columns of mantissas, then for some channels at a time
some of these positions become sums, and results. So the scratch holds little, and what a call
costs is paid in machine code. Written once, in the common subset of Python and viper.

p    what the loops need: from 0 on mantissas, 21 align, 28 dots, 36 finish; then
    51  first row, end, rows at a time
    54  groups, channels of each, channels at a time
    57  positions of a row, those that become columns at a time, those that become sums (of
        several rows at a time: all of them)
    60  BIAS - pad of y, of x; items of x from group to group, of w from row to row
    64  first item of out, its steps for a row and a position; height and width of the windows
        whose largest result counts (1, 1: none)
    69  neighbours share columns (0 or 1), kw, columns that do not count behind each row
    72  first item of x, items from a position's columns to the next one's
    74  the exponent of the image, as loops/block has it; what is added to it

Rows that go several at a time are whole, and have no windows. An image with inf or nan is left to
loops/block_special.
"""

from ._hints import far
from ._words import set_at


def pieces(p: ptr32, w):
    """w: loops mantissas, align, dots, finish, what computes images with inf or nan; p, and the
    parts of it that the first four take; x, weights, biases, exponents, scratch, out

    Access: of the loops it calls
    """
    mantissas, align, dots, finish, special, whole = w[:6]
    m_p, a_p, d_p, f_p, x = w[6:11]
    weights, bias, exponents, scratch, out = w[11:16]
    held, y, e = 0 - 1, p[51], p[74]
    if e == 255:
        special(whole, w)
        y = p[52]
    e = max(e, 1)
    i = set_at(p, 20, e + p[75])
    i = set_at(p, 27, e + p[75])
    while far(y < p[52]):
        i = set_at(p, 12, p[53])
        if p[12] > p[52] - y:
            p[i] = p[52] - y
        i = set_at(p, 10, p[60] + y * p[13])
        i = set_at(p, 0, p[72])
        group = 0
        while group < p[54]:
            at = 0
            while at < p[57]:
                n = min(p[58], p[57] - at)
                i = set_at(p, 11, p[61] + at * p[15])
                if p[69] == 0:
                    i = set_at(p, 14, n)
                else:
                    i = set_at(p, 16, (n - 1) * p[15] + p[70])
                    if p[12] > 1:
                        p[i] = p[18]
                mantissas(x, x, scratch, m_p)
                channel = group * p[55]
                end = channel + p[55]
                while channel < end:
                    m = min(p[56], end - channel)
                    i = set_at(p, 33, m)
                    i = set_at(p, 38, m)
                    if channel != held:
                        held = channel
                        i = set_at(p, 21, channel)
                        i = set_at(p, 23, channel)
                        i = set_at(p, 25, m)
                        align(bias, exponents, scratch, a_p)
                    i = set_at(p, 32, channel * p[63])
                    done = 0
                    while done < n:
                        i = set_at(p, 28, p[19] + done * p[73])
                        some = min(p[59], n - done)
                        i = set_at(p, 29, (some + p[71]) * p[12] - p[71])
                        i = set_at(p, 37, some)
                        if p[68] > 1 and some > p[68]:
                            p[i] = p[68]
                        i = set_at(p, 44, some // p[37] * p[12])
                        i = set_at(p, 40, p[64] + channel * p[42] + y // p[67] * p[65])
                        p[i] = p[40] + (at + done) // p[68] * p[66]
                        dots(scratch, weights, scratch, d_p)
                        finish(scratch, scratch, out, f_p)
                        done += some
                    channel += m
                at += n
            i = set_at(p, 0, p[0] + p[62])
            group += 1
        y += p[12]
