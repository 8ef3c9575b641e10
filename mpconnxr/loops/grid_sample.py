"""Elements of x sampled at points, with interpolation. Plain form.

x holds floats (images, channels, depth, rows, columns), out floats (images, channels, places). w
holds the points (images, places, rank); each coordinate is -1 .. 1, that of columns first. See
ops/grid_sample.
"""

from ..ops._float_math import half_even

# Parameters of sample
_START = const(0)  # first point of all images [places] 0..
_END = const(1)  # end, exclusive [places] 0..
_CHANNELS = const(2)  # [elements] 1..
_DEPTH = const(3)  # of x [elements] 1..
_ROWS = const(4)  # of x [elements] 1..
_COLUMNS = const(5)  # of x [elements] 1..
_PLACES = const(6)  # points of an image [places] 1..
_RANK = const(7)  # coordinates of a point [elements] 2, 3
_INTERPOLATION = const(8)  # 0 nearest, 1 linear, 2 cubic [code] 0..2
_PADDING_MODE = const(9)  # 0 zeros, 1 border, 2 reflection [code] 0..2
_IS_ALIGNED = const(10)  # -1 and 1 are the centres of the corner elements, not edges [flag] 0, 1

_FAR = 1e9  # farther coordinates count as infinite
_ALPHA = -0.75  # parameter of Keys' cubic convolution


def sample(x, w, out, p):
    """Sample x at the points.

    Access:
        image = channels * depth * rows * columns
        first, last = start // places, (end - 1) // places
        reads x[first * image : (last + 1) * image] if start < end
        reads w[start * rank : end * rank]
        writes out[first * channels * places : (last + 1) * channels * places] if start < end
    """
    # per dim, up to 4 taps: index and weight; then all their combinations
    at, share = [[0] * 4 for _ in range(3)], [[1.0] * 4 for _ in range(3)]
    counts = [1, 1, 1]
    n = (4 if p[_INTERPOLATION] == 2 else 2) ** p[_RANK]
    flat, weights = [0] * n, [0.0] * n
    place = p[_START]
    while place < p[_END]:
        i = 0
        while i < p[_RANK]:
            axis = 2 - i
            counts[axis] = _taps(
                w[place * p[_RANK] + i], p[_DEPTH + axis], p, at[axis], share[axis]
            )
            i += 1
        n = _combine(p, counts, at, share, flat, weights)
        _weigh(x, out, p, place, n, flat, weights)
        place += 1


def _combine(p, counts, at, share, flat, weights):
    """Set the taps of a point that have a weight; return their number."""
    n = plane = 0
    while plane < counts[0]:
        line = 0
        while line < counts[1]:
            part = share[0][plane] * share[1][line]
            row = (at[0][plane] * p[_ROWS] + at[1][line]) * p[_COLUMNS]
            column = 0
            while column < counts[2]:
                weight = part * share[2][column]
                if weight != 0.0:
                    flat[n] = row + at[2][column]
                    weights[n] = weight
                    n += 1
                column += 1
            line += 1
        plane += 1
    return n


def _weigh(x, out, p, place, n, flat, weights):
    plane = p[_DEPTH] * p[_ROWS] * p[_COLUMNS]
    batch = place // p[_PLACES] * p[_CHANNELS]
    base, k = batch * plane, batch * p[_PLACES] + place % p[_PLACES]
    channel = 0
    while channel < p[_CHANNELS]:
        total = 0.0
        tap = 0
        while tap < n:
            total += weights[tap] * x[base + flat[tap]]
            tap += 1
        out[k] = total
        base += plane
        k += p[_PLACES]
        channel += 1


def _taps(v, size, p, at, share):
    """Set indices and weights of the elements around v, -1 .. 1, along a dim.

    Returns:
        int: their number.
    """
    mode, padding, align = p[_INTERPOLATION], p[_PADDING_MODE], p[_IS_ALIGNED]
    v = (v + 1.0) / 2.0 * (size - 1) if align else ((v + 1.0) * size - 1.0) / 2.0
    if mode == 0:
        v = half_even(v)
    if padding == 1:
        margin = 4 if mode == 2 else 0  # beyond it, all taps of a cubic lie on the border
        v = 0.0 - margin if v < 0 - margin else size + margin - 1.0 if v > size + margin - 1 else v
    if not -_FAR < v < _FAR:
        share[0] = 0.0
        at[0] = 0
        return 1
    if padding == 2:
        v = _reflected(v, size, align)
    first = int(v // 1)
    rest = v - first
    if mode == 0:
        n = 1
        share[0] = 1.0
    elif mode == 1:
        n = 2
        share[0] = 1.0 - rest
        share[1] = rest
    else:
        n = 4
        first -= 1
        share[0] = _outer(1.0 + rest)
        share[1] = _inner(rest)
        share[2] = _inner(1.0 - rest)
        share[3] = _outer(2.0 - rest)
    _place(first, n, size, p, at, share)
    return n


def _place(first, n, size, p, at, share):
    k = 0
    while k < n:
        i = first + k
        if not 0 <= i < size:
            if p[_PADDING_MODE] == 0:
                share[k] = 0.0
            elif p[_PADDING_MODE] == 2:
                i = int(_reflected(i, size, p[_IS_ALIGNED]))
        at[k] = 0 if i < 0 else size - 1 if i >= size else i
        k += 1


def _reflected(v, size, align):
    """Return v, reflected at the borders until it lies between them."""
    low, reach = (0.0, size - 1.0) if align else (-0.5, float(size))
    if low <= v <= low + reach:
        return v
    if reach == 0.0:
        return low
    away = low - v if v < low else v - low - reach
    n = int(away / reach)
    rest = away - n * reach
    return low + rest if (n % 2 == 0) == (v < low) else low + reach - rest


def _inner(x):
    return ((_ALPHA + 2.0) * x - (_ALPHA + 3.0)) * x * x + 1.0


def _outer(x):
    return ((_ALPHA * x - 5.0 * _ALPHA) * x + 8.0 * _ALPHA) * x - 4.0 * _ALPHA
