"""Rows of x (K, inner) into rows of out (n, inner) that indices name. Plain form.

w    (indices, half, mask): half and mask of an integer dtype that wraps around, else 0
p    lo, hi: range of rows of x; 1 where an index was out of range (its row is left out); n,
     inner; operation (0 copy, 1 add, 2 mul, 3 max, 4 min)
"""


def scatter(x, w, out, p):
    """
    Access:
        inner = p[4]
        reads w[0 : 3]
        reads w[0][p[0] : p[1]]
        reads x[p[0] * inner : p[1] * inner]
        updates out[0 : p[3] * inner]
        writes p[2 : 3]
    """
    index, half, mask = w
    inner, op = p[4], p[5]
    row = p[0]
    while row < p[1]:
        b = index[row] * inner
        a = row * inner
        row += 1
        if not 0 <= b < p[3] * inner:
            p[2] = 1
            continue
        while a < row * inner:
            v = x[a]
            if op:
                old = out[b]
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
