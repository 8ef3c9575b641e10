"""Maxima of the bins of regions. Plain form.

x holds float32 (images, channels, rows, columns). out gets float32 (regions, channels, out_rows,
out_columns). w is (regions: image and corners x0, y0, x1, y1, inclusive; scale, one element; the
step's name, ASCII).

Raises InputError for an image that does not exist and for a corner that is inf or NaN.
"""

from array import array

from ..ops._refuse import refuse

# Parameters of regions
_START = const(0)  # first region [regions] 0..
_END = const(1)  # end, exclusive [regions] 0..
_IMAGES = const(2)  # [images] 0..
_CHANNELS = const(3)  # [elements] 1..
_ROWS = const(4)  # of x [elements] 0..
_COLUMNS = const(5)  # of x [elements] 0..
_OUT_ROWS = const(6)  # rows of bins [bins] 1..
_OUT_COLUMNS = const(7)  # columns of bins [bins] 1..

_FAR = 1e6  # corners are clipped to the image later


def regions(x, w, out, p):
    """Compute the bins of regions.

    Access:
        bins = channels * out_rows * out_columns
        reads x as float32[0 : images * channels * rows * columns] if start < end
        reads w[0 : 3] if start < end
        reads w[0][5 * start : 5 * end]
        reads w[1][0 : 1] if start < end
        writes out as float32[start * bins : end * bins]
    """
    box = array("i", [0, 0, 0, 0])
    region = p[_START]
    while region < p[_END]:
        image = w[0][region * 5]
        if not (0 <= image < p[_IMAGES] and image == image // 1):
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
    """Write the bins of one region, whose corners are in box."""
    rows, columns, out_rows, out_columns = p[_ROWS], p[_COLUMNS], p[_OUT_ROWS], p[_OUT_COLUMNS]
    box_columns, box_rows = box[2] - box[0] + 1, box[3] - box[1] + 1
    if box_columns < 1:
        box_columns = 1
    if box_rows < 1:
        box_rows = 1
    first = image * p[_CHANNELS] * rows * columns
    k = region * p[_CHANNELS] * out_rows * out_columns
    index = 0
    while index < out_rows * out_columns:
        row, column = index // out_columns, index % out_columns
        top = _cut(box[1] + row * box_rows // out_rows, rows)
        bottom = _cut(box[1] - (-(row + 1) * box_rows // out_rows), rows)
        left = _cut(box[0] + column * box_columns // out_columns, columns)
        right = _cut(box[0] - (-(column + 1) * box_columns // out_columns), columns)
        channel = 0
        while channel < p[_CHANNELS]:
            out[k + channel * out_rows * out_columns] = _largest(
                x, first + channel * rows * columns, columns, top, bottom, left, right
            )
            channel += 1
        k += 1
        index += 1


def _cut(v, size):
    return 0 if v < 0 else size if v > size else v


def _largest(x, base, columns, top, bottom, left, right):
    if bottom <= top or right <= left:
        return 0.0
    best = x[base + top * columns + left]
    while top < bottom:
        i = base + top * columns + left
        end = base + top * columns + right
        while i < end:
            v = x[i]
            if v > best or v != v:
                best = v
            i += 1
        top += 1
    return best
