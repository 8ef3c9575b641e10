"""Items of x around places, weighted, on the bits of float32. Written once, for Python and viper.

locate  finds which item is before a place, dim by dim, and how far
spread  the items around it and their shares, dim by dim
join    those of all dims together
weigh   adds up items
sample  all of it, by calls, for some places at a time

    x     locate: places (N, places, rank), each coordinate -1 .. 1, float32 as words; join: what
          spread has found of the places from p[0] to p[1]; weigh: float32 as words (N, C, D, H, W)
    w     spread: what locate has found; weigh: what join has found
    out   locate and spread: for each place and each of its coordinates how many items, the indices
          of 4 (locate: of one, plus BIAS) and their shares (locate: a distance); join: for each
          place how many items, and items and weights; weigh: float32 as words (N, C, places)
    p     lo, hi: range of places of all batches; C, D, H, W, places, rank, mode, padding, corners
          aligned (see ops/grid_sample); sample: the end of all, how many at a time; items around a
          place

A dim has at most 2**13 items. A coordinate counts in units of 2**-26, a share in 2**-28, an item
in 2**-29 of the largest one's power of two; their sum is rounded to nearest once.
"""

from ._floats import rank_item, weigh_item, weighed_sum
from ._hints import far, inline, undefined
from ._words import bit, set_at


@inline
def share(a, b):
    """Return a * b; all have 28 bits behind the point and are not above 1."""
    m = (a & 16383) * (b & 16383) >> 14
    m += (a >> 14) * (b & 16383) + (a & 16383) * (b >> 14)
    m = (a >> 14) * (b >> 14) + (m >> 14)
    return m


@inline
def mirror(v, f, reach):
    """Return v and f: v + f / 2**26, mirrored at 0 and 2 * reach; 0 if that is 0."""
    if reach:
        while v < 0:
            v += 4 * reach
        while v >= 4 * reach:
            v -= 4 * reach
        if v >= 2 * reach:
            v = 4 * reach - v
            if f:
                v -= 1
                f = (1 << 26) - f
    else:
        v = f = 0
    return v, f


@inline
def whole_and_rest(v, reach, p):
    """Return v and f: v + f / 2**26 = (the coordinate v + 1) * reach. a, b, e: room."""
    e, a = ((v >> 23) & 255) - 124, (v & 0x7FFFFF) | 0x800000
    if e < 0:
        e = 0 - e
        e = min(e, 30)
        a = (a + (1 << e >> 1)) >> e
    elif p[9] == 2:
        a = (a & ((1 << (28 - e)) - 1)) << e if e < 28 else 0
    else:
        a = a << e if e < 6 else 6 << 26
        a = min(a, 6 << 26)
    if (v >> 31) & 1:
        a = 0 - a
    a += 7 << 26
    b = (a & 8191) * reach
    a = (a >> 13) * reach + (b >> 13)
    v, f = (a >> 13) - 6 * reach, ((a & 8191) << 13) | (b & 8191)
    return v, f, a, b, e


@inline
def set_shares(r, mode, out, j):
    """Set shares of the taps of a dim around a place that lies r / 2**28 behind an item.

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
def set_indices(v, n, size, reach, out, j, p):
    """Set indices of n taps from v on: those outside have no share, or lie on the border, or are
    mirrored. v, t, f, k: room.
    """
    f = undefined
    t = j
    k = 0
    while k < n:
        f = v
        if v < 0 or v >= size:
            if p[9] == 0:
                out[t + 4] = 0
            elif p[9] == 2 and reach:
                while f < 0:
                    f += 2 * reach
                while f >= 2 * reach:
                    f -= 2 * reach
                if f >= size:
                    f = 2 * reach - 1 - f + p[10]
            f = max(f, 0)
            if f >= size:
                f = size - 1
        out[t] = f
        t += 1
        v += 1
        k += 1
    return v, t, f, k


def sample(p: ptr32, w):
    """w: loops locate, spread, join, weigh; p; places, what is found of each dim, and of all
    together; x, out

    Access: of the loops it calls
    """
    locate, spread, join, weigh, whole = w[:5]
    places, found, joined, x, out = w[5:10]
    while p[0] < p[11]:
        end = p[0] + p[12]
        if end > p[11]:
            end = p[11]
        i = set_at(p, 1, end)
        locate(places, places, found, whole)
        spread(found, found, found, whole)
        join(found, found, joined, whole)
        weigh(x, joined, out, whole)
        i = set_at(p, 0, end)


def locate(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, rank = p[0], p[1], p[7]
        requires max(p[3], p[4], p[5]) <= 8192
        reads x[lo * rank : hi * rank]
        writes out[0 : (hi - lo) * rank * 9]
    """
    top = bit(31)
    infinity, mode, j = top - 1 - 0x7FFFFF, p[8], 0
    i = 5
    for coordinate in far(range(p[0] * p[7], p[1] * p[7])):
        size, v, n = p[i], x[coordinate], 0
        i -= 1
        if i == 5 - p[7]:
            i = 5
        reach = size - p[10]
        a = v & (top - 1)
        if a < infinity or a == infinity and p[9] == 1:
            v, f, a, b, e = whole_and_rest(v, reach, p)
            if mode and p[9] == 2:
                v, f = mirror(v, f, reach)
            v += p[10] - 1
            f = ((v & 1) << 27) | (f << 1)
            v = v >> 1
            n = mode + 1
            if mode == 0:
                if f + (v & 1) > 1 << 27:
                    v += 1
                f = 0
            elif mode == 2:
                v -= 1
                n = 4
            if p[9] == 1 and mode < 2:
                if v < 0:
                    v = f = 0
                if v >= size - 1:
                    v, f = size - 1, 0
            out[j + 1] = v + (1 << 29)
            out[j + 5] = f
        out[j] = n
        j += 9


def spread(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, rank = p[0], p[1], p[7]
        given locate has filled w for these places, which is out
        reads w[0 : (hi - lo) * rank * 9]
        writes out[0 : (hi - lo) * rank * 9]
    """
    mode, i, j = p[8], 5, 1
    for coordinate in range(p[0] * p[7], p[1] * p[7]):
        size = p[i]
        i -= 1
        if i == 5 - p[7]:
            i = 5
        n, reach = w[j - 1], size - p[10]
        if n:
            v, f = w[j] - (1 << 29), w[j + 4]
            a, b, c, e = set_shares(f, mode, out, j)
            v, a, f, k = set_indices(v, n, size, reach, out, j, p)
        j += 9


def join(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, rank, most = p[0], p[1], p[7], p[13]
        given spread has filled x for these places; most is how many items one can have
        reads x[0 : (hi - lo) * rank * 9]
        writes out[0 : (hi - lo) * (1 + 2 * most)]
    """
    at = first = 0
    for place in range(p[0], p[1]):
        j, planes = first + 1, 1
        if p[7] == 3:
            planes = x[at + 18]
        for i in range(planes):
            a, e, f = 1 << 28, 2, 0
            if p[7] == 3:
                f = x[at + 19 + i] * p[4]
                a, e = x[at + 23 + i], i + 1
            for k in range(x[at + 9]):
                b = c = x[at + 14 + k]
                if p[7] == 3:
                    c = share(a, b)
                n, m = (f + x[at + 10 + k]) * p[5], e ^ (k + 1)
                for t in range(x[at]):
                    b = x[at + 5 + t]
                    v = share(c, b)
                    if v:
                        if p[8] == 2 and ((m ^ (t + 1)) & 2) == 0:
                            v = v | (1 << 29)
                        out[j] = n + x[at + 1 + t]
                        out[j + 1] = v
                        j += 2
        out[first] = j - first - 1
        at += 9 * p[7]
        first += 1 + 2 * p[13]


def weigh(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, channels, plane, places = p[0], p[1], p[2], p[3] * p[4] * p[5], max(p[6], 1)
        first, end = lo // places * channels, ((hi - 1) // places + 1) * channels
        given join has filled w for these places
        reads x[first * plane : end * plane] if lo < hi
        reads w[0 : (hi - lo) * (1 + 2 * p[13])]
        writes out[first * places : end * places] if lo < hi
    """
    top = bit(31)
    infinity, plane = top - 1 - 0x7FFFFF, p[3] * p[4] * p[5]
    base, o, at = p[0] // p[6] * p[2], p[0] % p[6], 1
    left = p[6] - o
    o, base = base * p[6] + o, base * plane
    for place in far(range(p[0], p[1])):
        i, k, j = base, o, at + w[at - 1]
        for channel in far(range(p[2])):
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
            out[k] = total
            i += plane
            k += p[6]
        at += 1 + 2 * p[13]
        o += 1
        left -= 1
        if left == 0:
            left = p[6]
            base += p[2] * plane
            o += (p[2] - 1) * p[6]
