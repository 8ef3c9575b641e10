"""Bins of regions. Plain form.

x    float32 (N, C, H, W);  out  float32 (regions, C, oh, ow)
w    (regions: x0, y0, x1, y1; image of each; scale, one item; the step's name, ASCII)
p    lo, hi: range of regions; C, H, W, oh, ow; cells a bin y, x, which the loop sets; maximum
     instead of mean (0 or 1); N, cells a side of a bin or 0 for by size, half pixel (0 or 1)
InputError for an image that does not exist, and for a region that is not a number or too large.
"""

from ..ops._refuse import refuse

_MAX_CELLS = 1024  # a side of a bin


def regions(x, w, out, p):
    """
    Access:
        lo, hi, n = p[0], p[1], p[2] * p[5] * p[6]
        reads x as float32[0 : p[10] * p[2] * p[3] * p[4]] if lo < hi and n
        reads w[0 : 4] if lo < hi
        reads w[0][4 * lo : 4 * hi]
        reads w[1][lo : hi]
        reads w[2][0 : 1] if lo < hi
        writes out as float32[lo * n : hi * n]
        writes p[7 : 9] if lo < hi
    """
    at = [0.0] * 4  # corner y, x and size of a bin: y, x
    region = p[0]
    while region < p[1]:
        image = w[1][region]
        if not 0 <= image < p[10]:
            refuse(w[3], "batch index {}".format(image))
        p[7] = _side(w, at, p, region * 4 + 1, 0)
        p[8] = _side(w, at, p, region * 4, 1)
        _align(x, at, out, p, image, region)
        region += 1


def _side(w, at, p, i, axis):
    """Sets corner and bin size along an axis (y, x); returns the cells a bin."""
    shift = 0.5 if p[12] else 0.0
    start = w[0][i] * w[2][0] - shift
    size = w[0][i + 2] * w[2][0] - shift - start
    if not p[12] and size < 1.0:
        size = 1.0
    if not (-1e6 < start < 1e6 and -1e6 < size < 1e6):
        refuse(w[3], "a region is out of range")
    at[axis] = start
    at[2 + axis] = size = size / p[5 + axis]
    cells = p[11] or int(-(-size // 1))
    if cells > _MAX_CELLS:
        refuse(w[3], "a region is too large")
    return max(cells, 0)


def _align(x, at, out, p, image, region):
    base = image * p[2] * p[3] * p[4]
    o = region * p[2] * p[5] * p[6]
    c = 0
    while c < p[2]:
        bins = p[5] * p[6]
        b = 0
        while b < bins:
            out[o] = _bin(x, at, p, base, b // p[6], b % p[6])
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
