"""Maxima of the bins of regions. Plain form.

x    float32 (N, C, H, W);  out  float32 (regions, C, oh, ow)
w    (regions: image and corners x0, y0, x1, y1, the last ones included; scale, one item; the
     step's name, ASCII)
p    lo, hi: range of regions; N, C, H, W, oh, ow
InputError for an image that does not exist and for a corner that is not a number.
"""

from array import array

from ..ops._refuse import refuse

_FAR = 1e6  # corners are cut to the image later


def regions(x, w, out, p):
    """
    Access:
        lo, hi, n = p[0], p[1], p[3] * p[6] * p[7]
        reads x as float32[0 : p[2] * p[3] * p[4] * p[5]] if lo < hi and n
        reads w[0 : 3] if lo < hi
        reads w[0][5 * lo : 5 * hi]
        reads w[1][0 : 1] if lo < hi
        writes out as float32[lo * n : hi * n]
    """
    box = array("i", [0, 0, 0, 0])
    region = p[0]
    while region < p[1]:
        image = w[0][region * 5]
        if not (0 <= image < p[2] and image == image // 1):
            refuse(w[2], "image {} of a region".format(image))
        k = 0
        while k < 4:
            box[k] = _corner(w, region * 5 + 1 + k)
            k += 1
        _fill(x, box, out, p, int(image), region)
        region += 1


def _corner(w, i):
    v = w[0][i] * w[1][0]
    if not -_FAR < v < _FAR:
        refuse(w[2], "a corner is out of range")
    return int(v + 0.5) if v >= 0 else -int(0.5 - v)


def _fill(x, box, out, p, image, region):
    """The bins of one region, whose corners are in box."""
    h, width, oh, ow = p[4], p[5], p[6], p[7]
    columns, rows = box[2] - box[0] + 1, box[3] - box[1] + 1
    if columns < 1:
        columns = 1
    if rows < 1:
        rows = 1
    first = image * p[3] * h * width
    o = region * p[3] * oh * ow
    b = 0
    while b < oh * ow:
        i, j = b // ow, b % ow
        y0 = _cut(box[1] + i * rows // oh, h)
        y1 = _cut(box[1] - (-(i + 1) * rows // oh), h)
        x0 = _cut(box[0] + j * columns // ow, width)
        x1 = _cut(box[0] - (-(j + 1) * columns // ow), width)
        c = 0
        while c < p[3]:
            out[o + c * oh * ow] = _largest(x, first + c * h * width, width, y0, y1, x0, x1)
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
