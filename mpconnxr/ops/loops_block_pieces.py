"""Rows of a convolution in block floating point, by calls of loops_block and loops_block_dot.

A row's positions go in pieces: some become columns of mantissas, then for some channels at a time
some of these positions become sums, and results. So the scratch holds little, and what a call
costs is paid in machine code. Written once, in the common subset of Python and viper.

p    what the loops need: from 0 on mantissas, 21 align, 25 dots, 32 finish; then
    47  first row, end, rows at a time
    50  groups, channels of each, channels at a time
    53  positions of a row, those that become columns at a time, those that become sums (of
        several rows at a time: all of them)
    56  BIAS - pad of y, of x; items of x from group to group, of w from row to row
    60  first item of out, its steps for a row and a position; height and width of the windows
        whose largest result counts (1, 1: none)
    65  neighbours share columns (0 or 1), kw, columns that do not count behind each row
    68  first item of x, items from a position's columns to the next one's

Rows that go several at a time are whole, and have no windows.
"""

import micropython

COMMON = True


@micropython.viper
def pieces(p: ptr32, w):
    """w: loops mantissas, align, dots, finish; their blocks of parameters, parts of p; x, weights,
    tails, scratch, out"""
    mantissas = w[0]
    align = w[1]
    dots = w[2]
    finish = w[3]
    m_p = w[4]
    a_p = w[5]
    d_p = w[6]
    f_p = w[7]
    x = w[8]
    weights = w[9]
    tails = w[10]
    scratch = w[11]
    out = w[12]
    y = p[47]
    held = 0 - 1
    while True:  # not a conditional branch around so much code: Xtensa's reach 2 KB
        if y >= p[48]:
            break
        i = 12
        p[i] = p[49]
        if p[12] > p[48] - y:
            p[i] = p[48] - y
        i = 10
        p[i] = p[56] + y * p[13]
        i = 0
        p[i] = p[68]
        group = 0
        while group < p[50]:
            at = 0
            while at < p[53]:
                n = p[54]
                if n > p[53] - at:
                    n = p[53] - at
                i = 11
                p[i] = p[57] + at * p[15]
                if p[65] == 0:
                    i = 14
                    p[i] = n
                else:
                    i = 16
                    p[i] = (n - 1) * p[15] + p[66]
                    if p[12] > 1:
                        p[i] = p[18]
                mantissas(x, x, scratch, m_p)
                channel = group * p[51]
                end = channel + p[51]
                while channel < end:
                    m = p[52]
                    if m > end - channel:
                        m = end - channel
                    i = 30
                    p[i] = m
                    i = 34
                    p[i] = m
                    if channel != held:
                        held = channel
                        i = 21
                        p[i] = 3 * channel
                        i = 22
                        p[i] = m
                        align(tails, tails, scratch, a_p)
                    i = 29
                    p[i] = channel * p[59]
                    done = 0
                    while done < n:
                        i = 25
                        p[i] = p[19] + done * p[69]
                        some = p[55]
                        if some > n - done:
                            some = n - done
                        i = 26
                        p[i] = (some + p[67]) * p[12] - p[67]
                        i = 33
                        p[i] = some
                        if p[64] > 1 and some > p[64]:
                            p[i] = p[64]
                        i = 40
                        p[i] = some // p[33] * p[12]
                        i = 36
                        p[i] = p[60] + channel * p[38] + y // p[63] * p[61]
                        p[i] = p[36] + (at + done) // p[64] * p[62]
                        dots(scratch, weights, scratch, d_p)
                        finish(scratch, scratch, out, f_p)
                        done += some
                    channel += m
                at += n
            i = 0
            p[i] = p[0] + p[58]
            group += 1
        y += p[12]
