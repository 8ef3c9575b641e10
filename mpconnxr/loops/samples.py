"""Elements of x sampled at points, with interpolation, on the bits of float32.

locate  Find the element before a point and the distance from it, dim by dim.
spread  Find the elements around it and their weights, dim by dim.
join    Combine those of all dims.
weigh   Sum the weighted elements.
sample  Call these loops, for some points at a time.

    x     locate: points (images, places, rank), each coordinate -1 .. 1, float32 as words; join:
          the result of spread for the points from start to end; weigh: float32 as words (images,
          channels, depth, rows, columns)
    w     spread: the result of locate; weigh: the result of join
    out   locate and spread: for each point and each of its coordinates the number of elements,
          the indices of 4 (locate: of one, plus BIAS) and their weights (locate: a distance);
          join: for each point the number of elements, then elements and weights; weigh: float32
          as words (images, channels, places)

A coordinate is in units of 2**-26, a weight in 2**-28, an element in 2**-29 of the power of two of
the largest; their sum is rounded to nearest once. See ops/grid_sample.
"""

from ._floats import rank_element, weigh_element, weighed_sum
from ._hints import far, inline, undefined
from ._words import bit, set_at

# Parameters of sample, locate, spread, join, weigh
_START = 0  # first point of all images [places] 0..
_END = const(1)  # end, exclusive [places] 0..
_CHANNELS = const(2)  # [elements] 1..
_DEPTH = const(3)  # of x [elements] 1..8192
_ROWS = const(4)  # of x [elements] 1..8192
_COLUMNS = const(5)  # of x [elements] 1..8192
_PLACES = const(6)  # points of an image [places] 1..
_RANK = 7  # coordinates of a point [elements] 2, 3
_INTERPOLATION = const(8)  # 0 nearest, 1 linear, 2 cubic [code] 0..2
_PADDING_MODE = const(9)  # 0 zeros, 1 border, 2 reflection [code] 0..2
_IS_ALIGNED = const(10)  # -1 and 1 are the centres of the corner elements, not edges [flag] 0, 1
_WHOLE_END = 11  # end, exclusive, of a call of sample [places] 0..
_PLACES_AT_ONCE = 12  # points at a time in sample [places] 0..8
_TAPS = 13  # most elements around a point [elements] 1..64


@inline
def share(a, b):
    """Return a * b; all have 28 fraction bits and are at most 1."""
    m = (a & 16383) * (b & 16383) >> 14
    m += (a >> 14) * (b & 16383) + (a & 16383) * (b >> 14)
    m = (a >> 14) * (b >> 14) + (m >> 14)
    return m


@inline
def mirror(v, rest, reach):
    """Return v and rest: v + rest / 2**26, reflected at 0 and 2 * reach; 0 if reach is 0."""
    if reach:
        while v < 0:
            v += 4 * reach
        while v >= 4 * reach:
            v -= 4 * reach
        if v >= 2 * reach:
            v = 4 * reach - v
            if rest:
                v -= 1
                rest = (1 << 26) - rest
    else:
        v = rest = 0
    return v, rest


@inline
def whole_and_rest(v, reach, padding_mode):
    """Return v and rest: v + rest / 2**26 = (the coordinate v + 1) * reach.

    Temporaries: a, b, e.
    """
    e, a = ((v >> 23) & 255) - 124, (v & 0x7FFFFF) | 0x800000
    if e < 0:
        e = 0 - e
        e = min(e, 30)
        a = (a + (1 << e >> 1)) >> e
    elif padding_mode == 2:
        a = (a & ((1 << (28 - e)) - 1)) << e if e < 28 else 0
    else:
        a = a << e if e < 6 else 6 << 26
        a = min(a, 6 << 26)
    if (v >> 31) & 1:
        a = 0 - a
    a += 7 << 26
    b = (a & 8191) * reach
    a = (a >> 13) * reach + (b >> 13)
    v, rest = (a >> 13) - 6 * reach, ((a & 8191) << 13) | (b & 8191)
    return v, rest, a, b, e


@inline
def set_shares(r, mode, out, j):
    """Set the weights of the taps along a dim, for a point r / 2**28 behind an element.

    Temporaries: a, b, c, e.
    """
    a = b = c = e = undefined
    if mode == 2:
        b = (1 << 28) - r
        a = share(r, r)
        c = share(b, b)
        e = share(a, b)
        out[j + 5] = (1 << 28) - a - e - (e >> 2)
        out[j + 7] = (e + e + e) >> 2
        e = share(c, r)
        out[j + 4] = (e + e + e) >> 2
        out[j + 6] = (1 << 28) - c - e - (e >> 2)
    else:
        out[j + 4] = (1 << 28) - r
        out[j + 5] = r
    return a, b, c, e


@inline
def set_indices(v, n, size, reach, out, j, padding_mode, is_aligned):
    """Set the indices of n taps from v on.

    Taps outside of x get no weight, or lie on the border, or are reflected. Temporaries: v, t, f,
    k.
    """
    f = undefined
    t = j
    k = 0
    while k < n:
        f = v
        if v < 0 or v >= size:
            if padding_mode == 0:
                out[t + 4] = 0
            elif padding_mode == 2 and reach:
                while f < 0:
                    f += 2 * reach
                while f >= 2 * reach:
                    f -= 2 * reach
                if f >= size:
                    f = 2 * reach - 1 - f + is_aligned
            f = max(f, 0)
            if f >= size:
                f = size - 1
        out[t] = f
        t += 1
        v += 1
        k += 1
    return v, t, f, k


def sample(p: ptr32, w):
    """Sample the points up to whole_end, some at a time.

    w lists loops locate, spread, join, weigh; p; the points, the results of spread, those of join;
    x, out.

    Access: of the loops it calls
    """
    locate, spread, join, weigh, whole = w[:5]
    places, taps, joined, x, out = w[5:10]
    start = p[_START]
    while p[_START] < p[_WHOLE_END]:
        end = p[_START] + p[_PLACES_AT_ONCE]
        if end > p[_WHOLE_END]:
            end = p[_WHOLE_END]
        i = set_at(p, _END, end)
        locate(places, places, taps, whole)
        spread(taps, taps, taps, whole)
        join(taps, taps, joined, whole)
        weigh(x, joined, out, whole)
        i = set_at(p, _START, end)
    i = set_at(p, _START, start)


def locate(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the element before each point.

    Access:
        reads x[start * rank : end * rank]
        writes out[0 : (end - start) * rank * 9]
    """
    top = bit(31)
    infinity, mode, j = top - 1 - 0x7FFFFF, p[_INTERPOLATION], 0
    i = _COLUMNS
    for coordinate in far(range(p[_START] * p[_RANK], p[_END] * p[_RANK])):
        size, v, n = p[i], x[coordinate], 0
        i -= 1
        if i == _COLUMNS - p[_RANK]:
            i = _COLUMNS
        reach = size - p[_IS_ALIGNED]
        magnitude = v & (top - 1)
        if magnitude < infinity or magnitude == infinity and p[_PADDING_MODE] == 1:
            v, rest, magnitude, b, e = whole_and_rest(v, reach, p[_PADDING_MODE])
            if mode and p[_PADDING_MODE] == 2:
                v, rest = mirror(v, rest, reach)
            v += p[_IS_ALIGNED] - 1
            rest = ((v & 1) << 27) | (rest << 1)
            v = v >> 1
            n = mode + 1
            if mode == 0:
                if rest + (v & 1) > 1 << 27:
                    v += 1
                rest = 0
            elif mode == 2:
                v -= 1
                n = 4
            if p[_PADDING_MODE] == 1 and mode < 2:
                if v < 0:
                    v = rest = 0
                if v >= size - 1:
                    v, rest = size - 1, 0
            out[j + 1] = v + (1 << 29)
            out[j + 5] = rest
        out[j] = n
        j += 9


def spread(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the elements around each point and their weights.

    Access:
        given locate has filled w for these points, and out is w
        reads w[0 : (end - start) * rank * 9]
        writes out[0 : (end - start) * rank * 9]
        n = (end - start) * rank
        given rank == 3 or depth == 1
        sizes = [columns, rows, depth]
        given 0 <= w[9 * i : 9 * i + 1] <= 1 << interpolation for i in range(n)
        given BIAS - 3 * sizes[i % rank] - 2 <= w[9 * i + 1 : 9 * i + 2]
            <= BIAS + 3 * sizes[i % rank] + 2 for i in range(n)
        given 0 <= w[9 * i + 5 : 9 * i + 6] < 1 << 28 for i in range(n)
    """
    mode, i, j = p[_INTERPOLATION], _COLUMNS, 1
    for coordinate in range(p[_START] * p[_RANK], p[_END] * p[_RANK]):
        size = p[i]
        i -= 1
        if i == _COLUMNS - p[_RANK]:
            i = _COLUMNS
        n, reach = w[j - 1], size - p[_IS_ALIGNED]
        if n:
            v, rest = w[j] - (1 << 29), w[j + 4]
            a, b, c, e = set_shares(rest, mode, out, j)
            v, a, rest, k = set_indices(
                v, n, size, reach, out, j, p[_PADDING_MODE], p[_IS_ALIGNED]
            )
        j += 9


def join(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Combine the elements of all dims.

    Access:
        given spread has filled x for these points; no point has more elements than taps
        reads x[0 : (end - start) * rank * 9]
        writes out[0 : (end - start) * (1 + 2 * taps)]
        n = (end - start) * rank
        given taps == 1 << interpolation * rank
        given rank == 3 or depth == 1
        sizes = [columns, rows, depth]
        given 0 <= x[9 * i : 9 * i + 1] <= 1 << interpolation for i in range(n)
        given 0 <= x[9 * i + 1 : 9 * i + 5] < sizes[i % rank] for i in range(n)
        given 0 <= x[9 * i + 5 : 9 * i + 9] <= 1 << 28 for i in range(n)
    """
    at = first = 0
    for place in range(p[_START], p[_END]):
        j, planes = first + 1, 1
        if p[_RANK] == 3:
            planes = x[at + 18]
        for i in range(planes):
            a, e, f = 1 << 28, 2, 0
            if p[_RANK] == 3:
                f = x[at + 19 + i] * p[_ROWS]
                a, e = x[at + 23 + i], i + 1
            for k in range(x[at + 9]):
                b = c = x[at + 14 + k]
                if p[_RANK] == 3:
                    c = share(a, b)
                n, m = (f + x[at + 10 + k]) * p[_COLUMNS], e ^ (k + 1)
                for t in range(x[at]):
                    b = x[at + 5 + t]
                    v = share(c, b)
                    if v:
                        if p[_INTERPOLATION] == 2 and ((m ^ (t + 1)) & 2) == 0:
                            v = v | (1 << 29)
                        out[j] = n + x[at + 1 + t]
                        out[j + 1] = v
                        j += 2
        out[first] = j - first - 1
        at += 9 * p[_RANK]
        first += 1 + 2 * p[_TAPS]


def weigh(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Sum the weighted elements.

    Access:
        image = channels * depth * rows * columns
        first, last = start // places, (end - 1) // places
        given join has filled w for these points
        reads x[first * image : (last + 1) * image] if start < end
        reads w[0 : (end - start) * (1 + 2 * taps)]
        writes out[first * channels * places : (last + 1) * channels * places] if start < end
        given rank == 3 or depth == 1
        starts = [i * (1 + 2 * taps) for i in range(end - start)]
        given 0 <= w[i : i + 1] <= 2 * taps for i in starts
        given 0 <= w[i + 2 * k + 1 : i + 2 * k + 2] < depth * rows * columns
            for i in starts for k in range(taps)
        given k % 2 << 29 <= w[i + 2 * k + 2 : i + 2 * k + 3] <= (k % 2 << 29) + (1 << 28) // taps
            for i in starts for k in range(taps)
    """
    top = bit(31)
    infinity, plane = top - 1 - 0x7FFFFF, p[_DEPTH] * p[_ROWS] * p[_COLUMNS]
    base, k, at = p[_START] // p[_PLACES] * p[_CHANNELS], p[_START] % p[_PLACES], 1
    left = p[_PLACES] - k
    k, base = base * p[_PLACES] + k, base * plane
    for place in far(range(p[_START], p[_END])):
        i, at_out, j = base, k, at + w[at - 1]
        for channel in far(range(p[_CHANNELS])):
            if j == at + 2 and w[at + 1] == 1 << 28:
                total = x[i + w[at]]
            else:
                most, specials = 1, 0
                for t in range(at, j, 2):
                    v, b = x[i + w[t]], w[t + 1] << 2
                    most, specials, a, n = rank_element(v, b, most, specials)
                total = 0
                for t in range(at, j, 2):
                    v, b = x[i + w[t]], w[t + 1]
                    a = b & 0x1FFFFFFF
                    m, n = weigh_element(v, a, most)
                    if ((v >> 31) ^ (b >> 29)) & 1:
                        m = 0 - m
                    total += m
                total, most, n, b = weighed_sum(total, most, specials, infinity, top)
            out[at_out] = total
            i += plane
            at_out += p[_PLACES]
        at += 1 + 2 * p[_TAPS]
        k += 1
        left -= 1
        if left == 0:
            left = p[_PLACES]
            base += p[_CHANNELS] * plane
            k += (p[_CHANNELS] - 1) * p[_PLACES]
