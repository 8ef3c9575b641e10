"""Rows of x (K, inner) into rows of out (n, inner) that indices name. Plain form.

w    (indices; the step's name, ASCII)
p    lo, hi: range of rows of x; n, inner; operation (1 add, 2 mul, 3 max, 4 min); bits of
     an integer dtype that wraps around: if it is signed, at all; else 0 and 0
InputError after the last row for an index out of range, whose row is left out.
"""

from ..ops._refuse import refuse


def scatter(x, w, out, p):
    """
    Access:
        inner = p[3]
        reads w[0 : 2]
        reads w[0][p[0] : p[1]]
        reads x[p[0] * inner : p[1] * inner]
        updates out[0 : p[2] * inner]
    """
    index, inner, op = w[0], p[3], p[4]
    half, mask = 1 << p[5] >> 1, (1 << p[6]) - 1
    good = True
    row = p[0]
    while row < p[1]:
        b = index[row] * inner
        a = row * inner
        row += 1
        if not 0 <= b < p[2] * inner:
            good = False
            continue
        while a < row * inner:
            old, v = out[b], x[a]
            if op == 1:
                v = old + v
            elif op == 2:
                v = old * v
            elif old != old or (old > v if op == 3 else old < v):
                v = old
            if mask:
                v = (v + half & mask) - half
            out[b] = v
            a += 1
            b += 1
    if not good:
        refuse(w[1], "an index is out of range")
