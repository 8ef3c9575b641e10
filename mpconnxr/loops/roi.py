"""Bins of one region. Plain form.

x    float32, from p[0] on: one image (C, H, W);  out  float32, from p[1] on (C, oh, ow)
w    corner y, x and bin size y, x, in items
p    first item of x, of out, C, H, W, oh, ow, cells a bin y, x, maximum instead of mean (0 or 1)
"""


def align(x, w, out, p):
    """
    Access:
        n = p[5] * p[6]
        reads x as float32[p[0] : p[0] + p[2] * p[3] * p[4]] if n
        reads w[0 : 4]
        writes out as float32[p[1] : p[1] + p[2] * n]
    """
    o = p[1]
    base = p[0]
    c = 0
    while c < p[2]:
        bins = p[5] * p[6]
        b = 0
        while b < bins:
            out[o] = _bin(x, w, p, base, b // p[6], b % p[6])
            o += 1
            b += 1
        base += p[3] * p[4]
        c += 1


def _bin(x, w, p, base, row, column):
    total = 0.0
    count = p[7] * p[8]
    first = True
    i = 0
    while i < count:
        y = w[0] + row * w[2] + (i // p[8] + 0.5) * w[2] / p[7]
        z = w[1] + column * w[3] + (i % p[8] + 0.5) * w[3] / p[8]
        v = _sample(x, base, p, y, z)
        if p[9]:
            if first or v > total:
                total = v
            first = False
        else:
            total += v
        i += 1
    return total / count if count and not p[9] else total


def _sample(x, base, p, y, z):
    h, w = p[3], p[4]
    if y < -1.0 or y > h or z < -1.0 or z > w:
        return 0.0
    row = int(y) if y > 0 else 0
    column = int(z) if z > 0 else 0
    b = y - row if y > 0 else 0.0
    d = z - column if z > 0 else 0.0
    down, right = w, 1
    if row >= h - 1:
        row, b, down = h - 1, 0.0, 0
    if column >= w - 1:
        column, d, right = w - 1, 0.0, 0
    i = base + row * w + column
    v0 = (1.0 - b) * (1.0 - d) * x[i]
    v1 = (1.0 - b) * d * x[i + right]
    v2 = b * (1.0 - d) * x[i + down]
    v3 = b * d * x[i + down + right]
    return max(v0, v1, v2, v3) if p[9] else v0 + v1 + v2 + v3
