"""Maxima of the bins of one region. Plain form.

x    float32, from p[0] on: one image (C, H, W);  out  float32, from p[1] on (C, oh, ow)
w    corners x0, y0, x1, y1 in items, the last ones included
p    first item of x, of out, C, H, W, oh, ow
"""


def max_bins(x, w, out, p):
    """
    Access:
        n = p[5] * p[6]
        reads x as float32[p[0] : p[0] + p[2] * p[3] * p[4]] if n
        reads w[0 : 4]
        writes out as float32[p[1] : p[1] + p[2] * n]
    """
    h, width, oh, ow = p[3], p[4], p[5], p[6]
    columns, rows = w[2] - w[0] + 1, w[3] - w[1] + 1
    if columns < 1:
        columns = 1
    if rows < 1:
        rows = 1
    o = p[1]
    b = 0
    while b < oh * ow:
        i, j = b // ow, b % ow
        y0 = _cut(w[1] + i * rows // oh, h)
        y1 = _cut(w[1] - (-(i + 1) * rows // oh), h)
        x0 = _cut(w[0] + j * columns // ow, width)
        x1 = _cut(w[0] - (-(j + 1) * columns // ow), width)
        c = 0
        while c < p[2]:
            out[o + c * oh * ow] = _largest(x, p[0] + c * h * width, width, y0, y1, x0, x1)
            c += 1
        o += 1
        b += 1


def _cut(v, d):
    return 0 if v < 0 else d if v > d else v


def _largest(x, base, width, y0, y1, x0, x1):
    if y1 <= y0 or x1 <= x0:
        return 0.0
    best = x[base + y0 * width + x0]
    while y0 < y1:
        i = base + y0 * width + x0
        end = base + y0 * width + x1
        while i < end:
            v = x[i]
            if v > best or v != v:
                best = v
            i += 1
        y0 += 1
    return best
