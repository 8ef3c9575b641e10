"""Rows of a product of matrices in block floating point, by calls of loops/block and kin.

A row of x becomes mantissas, and sums with some rows of the weights at a time, in machine code:
bytecode takes longer for what is between the calls. Written once, in the common subset of Python
and viper.

p     0  first row, end, rows a batch, K, rows of weights a batch, those at a time
      6  n1, then batches of x, and of weights, to advance a step of n0 and of n1
     11  first of the weights, from row to row of them; first bias, first exponent
     15  what is added to the exponent of x, which is found in p[16]
     17  first item of x, row of weights and item of out, of the first batch
     20  what peak takes, 23 mantissas, 44 align, 51 dots, 59 finish

A row with inf or nan is left to loops/block_special.
"""

from ._words import set_at


def products(p: ptr32, w):
    """w: as block_pieces has it, then loop peak and its part of p

    Access: of the loops it calls
    """
    mantissas, align, dots, finish, special, whole = w[:6]
    m_p, a_p, d_p, f_p, x = w[6:11]
    weights, bias, exponents, scratch, out = w[11:16]
    peak, peak_p, held = w[16], w[17], 0 - 1
    while p[0] < p[1]:
        batch = p[0] // p[2]
        row = (batch // p[6] * p[7] + batch % p[6] * p[8]) * p[2] + p[0] % p[2]
        i = set_at(p, 20, p[17] + row * p[3])
        peak(x, x, whole, peak_p)
        e = p[16]
        if e == 255:
            special(whole, w)
            i = set_at(p, 0, p[0] + 1)
            continue
        e = max(e, 1)
        e += p[15]
        i = set_at(p, 23, p[20])
        if p[50] != e:
            held = 0 - 1
        i = set_at(p, 43, e)
        i = set_at(p, 50, e)
        mantissas(x, x, scratch, m_p)
        row = p[18] + (batch // p[6] * p[9] + batch % p[6] * p[10]) * p[4]
        end, at = row + p[4], p[19] + p[0] * p[4]
        while row < end:
            n = min(end - row, p[5])
            if row != held:  # what channels start with differs from the row before
                held = row
                i = set_at(p, 44, p[13] + row * p[45])
                p[i + 2] = p[14] + row * p[47]
                p[i + 4] = n
                align(bias, exponents, scratch, a_p)
            i = set_at(p, 55, p[11] + row * p[12])
            p[i + 1] = n
            i = set_at(p, 61, n)
            p[i + 2] = at
            dots(scratch, weights, scratch, d_p)
            finish(scratch, scratch, out, f_p)
            at += n
            row += n
        i = set_at(p, 0, p[0] + 1)
