"""Elements of x around places, weighted, on the bits of float32.

Written once, for Python and viper.

locate  finds which element is before a place, dim by dim, and how far
spread  the elements around it and their shares, dim by dim
join    those of all dims together
weigh   adds up elements
sample  all of it, by calls, for some places at a time

    x     locate: places (images, places, rank), each coordinate -1 .. 1, float32 as words; join:
          what spread has found of the places from start to end; weigh: float32 as words (images,
          channels, depth, rows, columns)
    w     spread: what locate has found; weigh: what join has found
    out   locate and spread: for each place and each of its coordinates how many elements, the
          indices of 4 (locate: of one, plus BIAS) and their shares (locate: a distance); join: for
          each place how many elements, and elements and weights; weigh: float32 as words (images,
          channels, places)

A coordinate counts in units of 2**-26, a share in 2**-28, an element in 2**-29 of the largest
one's power of two; their sum is rounded to nearest once. See ops/grid_sample.
"""

from ._floats import rank_item, weigh_item, weighed_sum
from ._hints import far, inline, undefined
from ._words import bit, set_at

# Parameters of sample, locate, spread, join, weigh
_START = 0  # the first place, of all images [places] 0..
_END = const(1)  # behind the last one [places] 0..
_CHANNELS = const(2)  # [elements] 1..
_DEPTH = const(3)  # of x [elements] 1..8192
_ROWS = const(4)  # of x [elements] 1..8192
_COLUMNS = const(5)  # of x [elements] 1..8192
_PLACES = const(6)  # of an image [places] 1..
_RANK = 7  # coordinates of a place [elements] 2, 3
_INTERPOLATION = const(8)  # 0 nearest, 1 linear, 2 cubic [code] 0..2
_PADDING_MODE = const(9)  # outside lie: 0 zeros, 1 the border, 2 a mirror image [code] 0..2
_IS_ALIGNED = const(10)  # at -1 and 1 are middles of elements, not borders [flag] 0, 1
_WHOLE_END = 11  # behind the last place of a call of sample [places] 0..
_PLACES_AT_ONCE = 12  # how many sample takes at a time [places] 0..8
_TAPS = 13  # elements around a place, at most [elements] 1..64


@inline
def share(a, b):
    """Return a * b; all have 28 bits behind the point and are not above 1."""
    m = (a & 16383) * (b & 16383) >> 14
    m += (a >> 14) * (b & 16383) + (a & 16383) * (b >> 14)
    m = (a >> 14) * (b >> 14) + (m >> 14)
    return m


@inline
def mirror(v, rest, reach):
    """Return v and rest: v + rest / 2**26, mirrored at 0 and 2 * reach; 0 if that is 0."""
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
    """Return v and rest: v + rest / 2**26 = (the coordinate v + 1) * reach. a, b, e: room."""
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
    """Set shares of the taps of a dim around a place that lies r / 2**28 behind an element.

    a, b, c, e: room.
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
    """Set indices of n taps from v on: those outside have no share, or lie on the border, or are
    mirrored. v, t, f, k: room.
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
    """Call the other loops, for some places at a time, up to whole_end.

    w: loops locate, spread, join, weigh; p; places, what is found of each dim, and of all
    together; x, out

    Access: of the loops it calls
    """
    locate, spread, join, weigh, whole = w[:5]
    places, found, joined, x, out = w[5:10]
    start = p[_START]
    while p[_START] < p[_WHOLE_END]:
        end = p[_START] + p[_PLACES_AT_ONCE]
        if end > p[_WHOLE_END]:
            end = p[_WHOLE_END]
        i = set_at(p, _END, end)
        locate(places, places, found, whole)
        spread(found, found, found, whole)
        join(found, found, joined, whole)
        weigh(x, joined, out, whole)
        i = set_at(p, _START, end)
    i = set_at(p, _START, start)


def locate(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
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
    """
    Access:
        given locate has filled w for these places, which is out
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
    """
    Access:
        given spread has filled x for these places; no place has more elements than taps
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
    """
    Access:
        image = channels * depth * rows * columns
        first, last = start // places, (end - 1) // places
        given join has filled w for these places
        reads x[first * image : (last + 1) * image] if start < end
        reads w[0 : (end - start) * (1 + 2 * taps)]
        writes out[first * channels * places : (last + 1) * channels * places] if start < end
        given rank == 3 or depth == 1
        found = [i * (1 + 2 * taps) for i in range(end - start)]
        given 0 <= w[i : i + 1] <= 2 * taps for i in found
        given 0 <= w[i + 2 * k + 1 : i + 2 * k + 2] < depth * rows * columns
            for i in found for k in range(taps)
        given k % 2 << 29 <= w[i + 2 * k + 2 : i + 2 * k + 3] <= (k % 2 << 29) + (1 << 28) // taps
            for i in found for k in range(taps)
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
                most, found = 1, 0
                for t in range(at, j, 2):
                    v, b = x[i + w[t]], w[t + 1] << 2
                    most, found, a, n = rank_item(v, b, most, found)
                total = 0
                for t in range(at, j, 2):
                    v, b = x[i + w[t]], w[t + 1]
                    a = b & 0x1FFFFFFF
                    m, n = weigh_item(v, a, most)
                    if ((v >> 31) ^ (b >> 29)) & 1:
                        m = 0 - m
                    total += m
                total, most, n, b = weighed_sum(total, most, found, infinity, top)
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
