"""Dot products of unsigned bytes, exact: the loop under matmul_integer. Plain form.

    x    bytes, a row of K items from p[0]
    w    bytes, rows of K items from item p[4] on
    out  int32: out[p[2] + m * p[3]] = sum_k(x[k] * w[m, k]) for m from 0 to p[5] - 1
    p    x first, K, out first, out stride, w first, M

The caller keeps K * 255 * 255 below 2**31 and M above 0.
"""


def dots_u8(x, w, out, p):
    x_first, n_k, at, stride, j, m = p[0], p[1], p[2], p[3], p[4], p[5]
    while m:
        total = 0
        end = j + n_k
        i = x_first
        while j < end:
            total += x[i] * w[j]
            i += 1
            j += 1
        out[at] = total
        at += stride
        m -= 1


def sum_u8(x, w, out, p):
    """out[p[2]] = sum of the row of x."""
    total = 0
    i = p[0]
    end = i + p[1]
    while i < end:
        total += x[i]
        i += 1
    out[p[2]] = total
