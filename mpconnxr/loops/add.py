"""Sums of float32, rounded to even. Plain form: where words are objects, so are floats, and fewer.

x, w    floats;  out  floats
p       first item, row stride, stride of x; the same of w; first item of out; rows; items a row;
        1: differences
"""

NAN = float("nan")


def add32(x, w, out, p):
    """
    Access:
        rows, n = p[7:9]
        reads x as float32[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w as float32[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out as float32[p[6] : p[6] + rows * n]
    """
    i, j, k = p[0], p[3], p[6]
    rows = p[7]
    sign = -1.0 if p[9] else 1.0
    while rows:
        end = k + p[8]
        while k < end:
            v = x[i] + sign * w[j]
            out[k] = v if v == v else NAN
            i += p[2]
            j += p[5]
            k += 1
        i += p[1] - p[8] * p[2]
        j += p[4] - p[8] * p[5]
        rows -= 1
