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

Made from tools/loops/common/samples.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def sample(p: ptr32, w):
    """w: loops locate, spread, join, weigh; p; places, what is found of each dim, and of all
    together; x, out

    Access: of the loops it calls
    """
    locate = w[0]
    spread = w[1]
    join = w[2]
    weigh = w[3]
    whole = w[4]
    places = w[5]
    found = w[6]
    joined = w[7]
    x = w[8]
    out = w[9]
    while p[0] < p[11]:
        end = p[0] + p[12]
        if end > p[11]:
            end = p[11]
        i = 1
        p[i] = end
        locate(places, places, found, whole)
        spread(found, found, found, whole)
        join(found, found, joined, whole)
        weigh(x, joined, out, whole)
        i = 0
        p[i] = end


@micropython.viper
def locate(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, rank = p[0], p[1], p[7]
        requires max(p[3], p[4], p[5]) <= 8192
        reads x[lo * rank : hi * rank]
        writes out[0 : (hi - lo) * rank * 9]
    """
    top = 1
    top = top << 31
    infinity = top - 1 - 0x7FFFFF
    mode = p[8]
    j = 0
    i = 5
    coordinate = p[0] * p[7]
    while True:
        if coordinate >= p[1] * p[7]:
            break
        size = p[i]
        v = x[coordinate]
        n = 0
        i -= 1
        if i == 5 - p[7]:
            i = 5
        reach = size - p[10]
        a = v & (top - 1)
        if a < infinity or a == infinity and p[9] == 1:
            e = ((v >> 23) & 255) - 124
            a = (v & 0x7FFFFF) | 0x800000
            if e < 0:
                e = 0 - e
                if e > 30:
                    e = 30
                a = (a + (1 << e >> 1)) >> e
            elif p[9] == 2:
                a = (a & ((1 << (28 - e)) - 1)) << e if e < 28 else 0
            else:
                a = a << e if e < 6 else 6 << 26
                if a > 6 << 26:
                    a = 6 << 26
            if (v >> 31) & 1:
                a = 0 - a
            a += 7 << 26
            b = (a & 8191) * reach
            a = (a >> 13) * reach + (b >> 13)
            v = (a >> 13) - 6 * reach
            f = ((a & 8191) << 13) | (b & 8191)
            if mode and p[9] == 2:
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
                    v = 0
                    f = 0
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
                    v = 0
                    f = 0
                if v >= size - 1:
                    v = size - 1
                    f = 0
            out[j + 1] = v + (1 << 29)
            out[j + 5] = f
        out[j] = n
        j += 9
        coordinate += 1


@micropython.viper
def spread(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, rank = p[0], p[1], p[7]
        given locate has filled w for these places, which is out
        reads w[0 : (hi - lo) * rank * 9]
        writes out[0 : (hi - lo) * rank * 9]
    """
    mode = p[8]
    i = 5
    j = 1
    coordinate = p[0] * p[7]
    while coordinate < p[1] * p[7]:
        size = p[i]
        i -= 1
        if i == 5 - p[7]:
            i = 5
        n = w[j - 1]
        reach = size - p[10]
        if n:
            v = w[j] - (1 << 29)
            f = w[j + 4]
            if mode == 2:
                b = (1 << 28) - f
                a = (f & 16383) * (f & 16383) >> 14
                a += (f >> 14) * (f & 16383) + (f & 16383) * (f >> 14)
                a = (f >> 14) * (f >> 14) + (a >> 14)
                c = (b & 16383) * (b & 16383) >> 14
                c += (b >> 14) * (b & 16383) + (b & 16383) * (b >> 14)
                c = (b >> 14) * (b >> 14) + (c >> 14)
                e = (a & 16383) * (b & 16383) >> 14
                e += (a >> 14) * (b & 16383) + (a & 16383) * (b >> 14)
                e = (a >> 14) * (b >> 14) + (e >> 14)
                out[j + 5] = (1 << 28) - a - e - (e >> 2)
                out[j + 7] = (e + e + e) >> 2
                e = (c & 16383) * (f & 16383) >> 14
                e += (c >> 14) * (f & 16383) + (c & 16383) * (f >> 14)
                e = (c >> 14) * (f >> 14) + (e >> 14)
                out[j + 4] = (e + e + e) >> 2
                out[j + 6] = (1 << 28) - c - e - (e >> 2)
            else:
                out[j + 4] = (1 << 28) - f
                out[j + 5] = f
            a = j
            k = 0
            while k < n:
                f = v
                if v < 0 or v >= size:
                    if p[9] == 0:
                        out[a + 4] = 0
                    elif p[9] == 2 and reach:
                        while f < 0:
                            f += 2 * reach
                        while f >= 2 * reach:
                            f -= 2 * reach
                        if f >= size:
                            f = 2 * reach - 1 - f + p[10]
                    if f < 0:
                        f = 0
                    if f >= size:
                        f = size - 1
                out[a] = f
                a += 1
                v += 1
                k += 1
        j += 9
        coordinate += 1


@micropython.viper
def join(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, rank, most = p[0], p[1], p[7], p[13]
        given spread has filled x for these places; most is how many items one can have
        reads x[0 : (hi - lo) * rank * 9]
        writes out[0 : (hi - lo) * (1 + 2 * most)]
    """
    at = 0
    first = 0
    place = p[0]
    while place < p[1]:
        j = first + 1
        planes = 1
        if p[7] == 3:
            planes = x[at + 18]
        i = 0
        while i < planes:
            a = 1 << 28
            e = 2
            f = 0
            if p[7] == 3:
                f = x[at + 19 + i] * p[4]
                a = x[at + 23 + i]
                e = i + 1
            k = 0
            while k < x[at + 9]:
                b = x[at + 14 + k]
                c = x[at + 14 + k]
                if p[7] == 3:
                    c = (a & 16383) * (b & 16383) >> 14
                    c += (a >> 14) * (b & 16383) + (a & 16383) * (b >> 14)
                    c = (a >> 14) * (b >> 14) + (c >> 14)
                n = (f + x[at + 10 + k]) * p[5]
                m = e ^ (k + 1)
                t = 0
                while t < x[at]:
                    b = x[at + 5 + t]
                    v = (c & 16383) * (b & 16383) >> 14
                    v += (c >> 14) * (b & 16383) + (c & 16383) * (b >> 14)
                    v = (c >> 14) * (b >> 14) + (v >> 14)
                    if v:
                        if p[8] == 2 and ((m ^ (t + 1)) & 2) == 0:
                            v = v | (1 << 29)
                        out[j] = n + x[at + 1 + t]
                        out[j + 1] = v
                        j += 2
                    t += 1
                k += 1
            i += 1
        out[first] = j - first - 1
        at += 9 * p[7]
        first += 1 + 2 * p[13]
        place += 1


@micropython.viper
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
    top = 1
    top = top << 31
    infinity = top - 1 - 0x7FFFFF
    plane = p[3] * p[4] * p[5]
    base = p[0] // p[6] * p[2]
    o = p[0] % p[6]
    at = 1
    left = p[6] - o
    o = base * p[6] + o
    base = base * plane
    place = p[0]
    while True:
        if place >= p[1]:
            break
        i = base
        k = o
        j = at + w[at - 1]
        channel = 0
        while True:
            if channel >= p[2]:
                break
            if j == at + 2 and w[at + 1] == 1 << 28:
                total = x[i + w[at]]
            else:
                most = 1
                found = 0
                t = at
                while t < j:
                    v = x[i + w[t]]
                    b = w[t + 1] << 2
                    a = (v >> 23) & 255
                    if a == 255:
                        a = 1
                        n = 4 if v & 0x7FFFFF else 1 + (((v ^ b) >> 31) & 1)
                        found = found | n
                    if a > most:
                        most = a
                    t += 2
                total = 0
                t = at
                while t < j:
                    v = x[i + w[t]]
                    b = w[t + 1]
                    a = b & 0x1FFFFFFF
                    n = most - ((v >> 23) & 255)
                    m = v & 0x7FFFFF
                    if n < most:
                        m = m | 0x800000
                    else:
                        n -= 1
                    m = ((m << 5) + (1 << n >> 1)) >> n if 0 - 1 < n < 30 else 0
                    n = m >> 15
                    m = m & 32767
                    m = (n * (a >> 15) << 2) + ((n * (a & 32767) + m * (a >> 15)) >> 13)
                    if ((v >> 31) ^ (b >> 29)) & 1:
                        m = 0 - m
                    total += m
                    t += 2
                if found:
                    total = infinity
                    if found == 2:
                        total -= top
                    elif found > 2:
                        total = infinity | 0x400000
                elif total:
                    b = 0
                    if total < 0:
                        total = 0 - total
                        b = 1
                    most += 1
                    if total >> 30:
                        total = total >> 1
                        most += 1
                    while total < 1 << 24:
                        total = total << 5
                        most -= 5
                    while total < 1 << 29:
                        total = total << 1
                        most -= 1
                    n = 6
                    if most < 1:
                        n = 7 - most
                        most = 1
                        if n > 30:
                            n = 30
                            total = 0
                    total = ((total + (1 << (n - 1))) >> n) + ((most - 1) << 23)
                    if most > 254 or total > infinity:
                        total = infinity
                    if b:
                        total -= top
            out[k] = total
            i += plane
            k += p[6]
            channel += 1
        at += 1 + 2 * p[13]
        o += 1
        left -= 1
        if left == 0:
            left = p[6]
            base += p[2] * plane
            o += (p[2] - 1) * p[6]
        place += 1
