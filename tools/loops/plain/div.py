"""Quotients of float32, rounded to even. Plain form: see loops/add.

x, w    floats;  out  floats
p       first item, row stride, stride of x; the same of w; first item of out; rows; items a row
"""

from math import copysign

from tools.loops.snippets.words import rows_of_pairs

NAN = float("nan")

INF = float("inf")


def div32(x, w, out, p):
    i, j, k = p[0], p[3], p[6]
    rows = p[7]
    with rows_of_pairs(i, j, k, end, rows, p[2], p[5]):
        v = w[j]
        v = x[i] / v if v else x[i] * copysign(INF, v)
        out[k] = v if v == v else NAN
