"""Items of x around places, weighted. Plain form.

x    floats (N, C, D, H, W);  out  floats (N, C, places)
w    the places (N, places, rank), each coordinate -1 .. 1
p    lo, hi: range of places of all batches; C, D, H, W, places, rank, mode, padding, corners
     aligned (see the kernel's params)
"""

from ..ops._float_math import half_even

_FAR = 1e9  # as good as infinite
_ALPHA = -0.75  # of Keys' cubic convolution


def sample(x, w, out, p):
    """
    Access:
        lo, hi, channels, plane, places = p[0], p[1], p[2], p[3] * p[4] * p[5], max(p[6], 1)
        first, end = lo // places * channels, ((hi - 1) // places + 1) * channels
        reads x[first * plane : end * plane] if lo < hi
        reads w[lo * p[7] : hi * p[7]]
        writes out[first * places : end * places] if lo < hi
    """
    # by dim, up to 4 taps: where, and how much; then all their combinations
    at, share = [[0] * 4 for _ in range(3)], [[1.0] * 4 for _ in range(3)]
    counts = [1, 1, 1]
    n = (4 if p[8] == 2 else 2) ** p[7]
    flat, weights = [0] * n, [0.0] * n
    place = p[0]
    while place < p[1]:
        i = 0
        while i < p[7]:
            axis = 2 - i
            counts[axis] = _taps(w[place * p[7] + i], p[3 + axis], p, at[axis], share[axis])
            i += 1
        n = _combine(p, counts, at, share, flat, weights)
        _weigh(x, out, p, place, n, flat, weights)
        place += 1


def _combine(p, counts, at, share, flat, weights):
    """All taps of a place with a weight; returns how many."""
    n = z = 0
    while z < counts[0]:
        y = 0
        while y < counts[1]:
            part = share[0][z] * share[1][y]
            row = (at[0][z] * p[4] + at[1][y]) * p[5]
            k = 0
            while k < counts[2]:
                weight = part * share[2][k]
                if weight != 0.0:
                    flat[n] = row + at[2][k]
                    weights[n] = weight
                    n += 1
                k += 1
            y += 1
        z += 1
    return n


def _weigh(x, out, p, place, n, flat, weights):
    plane = p[3] * p[4] * p[5]
    batch = place // p[6] * p[2]
    base, o = batch * plane, batch * p[6] + place % p[6]
    channel = 0
    while channel < p[2]:
        total = 0.0
        t = 0
        while t < n:
            total += weights[t] * x[base + flat[t]]
            t += 1
        out[o] = total
        base += plane
        o += p[6]
        channel += 1


def _taps(v, d, p, at, share):
    """Sets the indices and shares of the items of a dim of d around v, -1 .. 1; returns how
    many.
    """
    mode, padding, align = p[8], p[9], p[10]
    v = (v + 1.0) / 2.0 * (d - 1) if align else ((v + 1.0) * d - 1.0) / 2.0
    if mode == 0:
        v = half_even(v)
    if padding == 1:
        margin = 4 if mode == 2 else 0  # where all taps of a cubic lie on the border
        v = 0.0 - margin if v < 0 - margin else d + margin - 1.0 if v > d + margin - 1 else v
    if not -_FAR < v < _FAR:
        share[0] = 0.0
        at[0] = 0
        return 1
    if padding == 2:
        v = _reflected(v, d, align)
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
    _place(first, n, d, p, at, share)
    return n


def _place(first, n, d, p, at, share):
    k = 0
    while k < n:
        i = first + k
        if not 0 <= i < d:
            if p[9] == 0:
                share[k] = 0.0
            elif p[9] == 2:
                i = int(_reflected(i, d, p[10]))
        at[k] = 0 if i < 0 else d - 1 if i >= d else i
        k += 1


def _reflected(v, d, align):
    """v mirrored at the borders until it lies between them."""
    low, reach = (0.0, d - 1.0) if align else (-0.5, float(d))
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
