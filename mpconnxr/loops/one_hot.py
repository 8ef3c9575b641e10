"""Indices (outer, inner) spread along the middle axis of (outer, depth, inner). Plain form.

x    indices;  w  the values for off and on
p    lo, hi: range of rows; depth, inner
"""


def one_hot(x, w, out, p):
    """
    Access:
        depth, inner = p[2:4]
        reads x[p[0] // depth * inner : ((p[1] - 1) // depth + 1) * inner] if p[0] < p[1]
        reads w[0 : 2] if p[0] < p[1]
        writes out[p[0] * inner : p[1] * inner]
    """
    depth, inner = p[2], p[3]
    row = p[0]
    while row < p[1]:
        a = row // depth * inner
        b = row * inner
        end = b + inner
        while b < end:
            v = x[a]
            if v < 0:
                v += depth
            out[b] = w[1] if v == row % depth else w[0]
            a += 1
            b += 1
        row += 1
