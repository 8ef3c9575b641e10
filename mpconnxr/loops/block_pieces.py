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

Made from tools/loops/common/block_pieces.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def pieces(p: ptr32, w):
    """w: loops mantissas, align, dots, finish, what computes images with inf or nan; p, and the
    parts of it that the first four take; x, weights, biases, exponents, scratch, out

    Access: of the loops it calls
    """
    mantissas = w[0]
    align = w[1]
    dots = w[2]
    finish = w[3]
    special = w[4]
    whole = w[5]
    m_p = w[6]
    a_p = w[7]
    d_p = w[8]
    f_p = w[9]
    x = w[10]
    weights = w[11]
    bias = w[12]
    exponents = w[13]
    scratch = w[14]
    out = w[15]
    held = 0 - 1
    y = p[51]
    e = p[74]
    if e == 255:
        special(whole, w)
        y = p[52]
    if e < 1:
        e = 1
    i = 20
    p[i] = (e + p[75])
    i = 27
    p[i] = (e + p[75])
    while True:
        if y >= p[52]:
            break
        i = 12
        p[i] = p[53]
        if p[12] > p[52] - y:
            p[i] = p[52] - y
        i = 10
        p[i] = (p[60] + y * p[13])
        i = 0
        p[i] = p[72]
        group = 0
        while group < p[54]:
            at = 0
            while at < p[57]:
                n = p[58]
                if n > p[57] - at:
                    n = p[57] - at
                i = 11
                p[i] = (p[61] + at * p[15])
                if p[69] == 0:
                    i = 14
                    p[i] = n
                else:
                    i = 16
                    p[i] = ((n - 1) * p[15] + p[70])
                    if p[12] > 1:
                        p[i] = p[18]
                mantissas(x, x, scratch, m_p)
                channel = group * p[55]
                end = channel + p[55]
                while channel < end:
                    m = p[56]
                    if m > end - channel:
                        m = end - channel
                    i = 33
                    p[i] = m
                    i = 38
                    p[i] = m
                    if channel != held:
                        held = channel
                        i = 21
                        p[i] = channel
                        i = 23
                        p[i] = channel
                        i = 25
                        p[i] = m
                        align(bias, exponents, scratch, a_p)
                    i = 32
                    p[i] = (channel * p[63])
                    done = 0
                    while done < n:
                        i = 28
                        p[i] = (p[19] + done * p[73])
                        some = p[59]
                        if some > n - done:
                            some = n - done
                        i = 29
                        p[i] = ((some + p[71]) * p[12] - p[71])
                        i = 37
                        p[i] = some
                        if p[68] > 1 and some > p[68]:
                            p[i] = p[68]
                        i = 44
                        p[i] = (some // p[37] * p[12])
                        i = 40
                        p[i] = (p[64] + channel * p[42] + y // p[67] * p[65])
                        p[i] = p[40] + (at + done) // p[68] * p[66]
                        dots(scratch, weights, scratch, d_p)
                        finish(scratch, scratch, out, f_p)
                        done += some
                    channel += m
                at += n
            i = 0
            p[i] = (p[0] + p[62])
            group += 1
        y += p[12]
