"""Products of float32, rounded to even. Plain form: see loops/add.

x, w    floats;  out  floats
p       first item, row stride, stride of x; the same of w; first item of out; rows; items a row;
        1: x where that is not below 0 (PRelu)
"""

from tools.loops.snippets.words import rows_of_pairs

NAN = float("nan")


def mul32(x, w, out, p):
    i, j, k = p[0], p[3], p[6]
    rows = p[7]
    with rows_of_pairs(i, j, k, end, rows, p[2], p[5]):
        v = x[i]
        if not (p[9] and v >= 0.0):
            v = v * w[j]
        out[k] = v if v == v else NAN
