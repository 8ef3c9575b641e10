"""Quotients of float32, rounded to even. Plain form: see loops/add.

x, w    floats;  out  floats
p       first item, row stride, stride of x; the same of w; first item of out; rows; items a row
"""

from math import copysign

NAN = float("nan")
INF = float("inf")


def div32(x, w, out, p):
    """Access: as add.add32"""
    i, j, k = p[0], p[3], p[6]
    rows = p[7]
    while rows:
        end = k + p[8]
        while k < end:
            v = w[j]
            v = x[i] / v if v else x[i] * copysign(INF, v)
            out[k] = v if v == v else NAN
            i += p[2]
            j += p[5]
            k += 1
        i += p[1] - p[8] * p[2]
        j += p[4] - p[8] * p[5]
        rows -= 1
