"""The order of float32: the larger of two, and comparisons. Plain form: see loops/add.

x, w    floats;  out  floats, of compare8 bytes
p       first item, row stride, stride of x; the same of w; first item of out; rows; items a row;
        then of larger32: 1 for the smaller one
        of compare8: which are true, 1 (x < w) + 2 (equal) + 4 (x > w); nothing is, of a NaN

A NaN on either side wins. Of 0 and -0, which are equal, w stays.
"""

NAN = float("nan")


def larger32(x, w, out, p):
    """Access: as add.add32"""
    i, j, k = p[0], p[3], p[6]
    rows = p[7]
    smaller = p[9] == 1
    while rows:
        end = k + p[8]
        while k < end:
            v = x[i]
            if not (v < w[j] if smaller else v > w[j]) and v == v:
                v = w[j]
            out[k] = v if v == v else NAN
            i += p[2]
            j += p[5]
            k += 1
        i += p[1] - p[8] * p[2]
        j += p[4] - p[8] * p[5]
        rows -= 1


def compare8(x, w, out, p):
    """
    Access:
        rows, n = p[7:9]
        reads x as float32[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w as float32[p[3] : p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1] if rows and n
        writes out as uint8[p[6] : p[6] + rows * n]
    """
    i, j, k = p[0], p[3], p[6]
    rows = p[7]
    less, equal, greater = p[9] & 1, p[9] >> 1 & 1, p[9] >> 2 & 1
    while rows:
        end = k + p[8]
        while k < end:
            v = x[i]
            out[k] = less if v < w[j] else greater if v > w[j] else equal if v == w[j] else 0
            i += p[2]
            j += p[5]
            k += 1
        i += p[1] - p[8] * p[2]
        j += p[4] - p[8] * p[5]
        rows -= 1
