"""Dot products: the loops under gemm and conv. Plain form.

    x    floats, a row of K items from p[0]
    w    floats, rows of K items and, if p[4], a bias behind them; from item p[5] on
    out  floats: out[p[2] + m * p[3]] = sum_k(x[k] * w[m, k]) + bias[m] for m from 0 to p[6] - 1
    p    x first, K, out first, out stride, has bias (0 or 1), w first, M

Sums run in blocks, so that single floats lose little: the error grows with the square root of K
at worst as with K / _BLOCK + _BLOCK terms, not as with K.
"""

_BLOCK = 32


def dots_f32(x, w, out, p):
    """
    Access:
        reads x[p[0] : p[0] + p[1]] if p[6]
        reads w[p[5] : p[5] + p[6] * (p[1] + p[4])]
        writes out[p[2] : p[2] + (p[6] - 1) * p[3] + 1] if p[6]
    """
    x_first, n_k, at, stride, bias, j, m = p[0], p[1], p[2], p[3], p[4], p[5], p[6]
    x_end = x_first + n_k
    while m:
        total = w[j + n_k] if bias else 0.0
        i = x_first
        while i < x_end:
            end = i + _BLOCK
            if end > x_end:
                end = x_end
            part = 0.0
            while i < end:
                part += x[i] * w[j]
                i += 1
                j += 1
            total += part
        j += bias
        out[at] = total
        at += stride
        m -= 1


def dots_int(x, w, out, p):
    """The same with integers, exact, wrapping around. p ends with the bits of the dtype: if it is
    signed, else 0; at all.

    Access: as dots_f32
    """
    half, mask = 1 << p[7] >> 1, (1 << p[8]) - 1
    n_k, at, bias, j, m = p[1], p[2], p[4], p[5], p[6]
    while m:
        total = w[j + n_k] if bias else 0
        i = p[0]
        end = i + n_k
        while i < end:
            total += x[i] * w[j]
            i += 1
            j += 1
        j += bias
        out[at] = (total + half & mask) - half
        at += p[3]
        m -= 1
