"""Fixed point before a dynamic quantization. Written once, for Python and viper.

Items are integers of 29 bits and the sign, + 2**30, times 2**U, which all of them share. 17 bits
behind the point of one choose the eighth of a table.

channels  out gets two words for each of p[2] channels: a factor of 23 bits and the sign, + 2**24,
          and a summand, + 2**30; p[5] becomes 1024 + U
          x: scales, w: offsets, float32 as words
gates     out = v * s(v), v = x * factor + summand, s(-v) = 1 - s(v)
          x: int32, below 2**p[4] in magnitude;  w: what channels gave, then four coefficients of
          s for each eighth, t**3 + 2**30, t**2 + 2**30, t, 1, in units of 2**-21
          p: lo, hi: range of items; channels, that of the first item; bits of x; 1024 + U; the
          largest and the least item of out, or 0; how many of these there are at all; how many
          eighths, behind which s is 1; of channels: 1 where each has a scale, else 0: all have
          the first one; the same of offsets
norms     out = x * R * factor + summand, x and R from moments; 0 for a row with inf or nan, or
          without a deviation
          p: of moments; 13 1024 + U, the largest and the least item of out so far, how many items
          there are at all, 1024 + bits behind the point of x * R
ends      out gets the largest and the least item as float32, the latter without its sign
          p: 1024 + U, both of them, how many items there are at all
octets    out = the bytes of x;  w: scale, zero point and inverse scale as dynamic_quantize.choose
          gives them;  p: as of ends

Products are cut off, those with a factor to 24 bits less.
"""

from ._hints import far, inline
from ._words import all_but_sign, bit, set_at


@inline
def times(v, m):
    """Return v * m / 2**24: 29 bits and the sign times 24 bits and the sign. high, low: room."""
    high, low = v >> 15, v & 32767
    v = (high * (m & 4095) << 3) + low * (m >> 12) + (low * (m & 4095) >> 12)
    v = (high * (m >> 12) << 3) + (v >> 12)
    return v, high, low


@inline
def mantissa(v):
    """Return mantissa, 0 of a denormal, and exponent of the float v."""
    e = (v >> 23) & 255
    m = (v & 8388607) | 8388608 if e else 0
    return m, e


@inline
def put(v, m, shift):
    """Return m, a factor or summand, with the sign of v, rounded to so many bits less."""
    shift = min(shift, 30)
    m = (m + (1 << shift >> 1)) >> shift
    if (v >> 31) & 1:
        m = 0 - m
    return m, shift


def channels(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[0 : (p[2] - 1) * p[10] + 1] if p[2] > 0
        reads w[0 : (p[2] - 1) * p[11] + 1] if p[2] > 0
        writes out[0 : 2 * p[2]]
        writes p[5:6]
    """
    one = bit(30)
    top = 1
    i = j = 0
    for c in range(p[2]):
        top = max(((x[i] >> 23) & 255) + p[4], top)
        top = max((w[j] >> 23) & 255, top)
        i += p[10]
        j += p[11]
    i = j = o = 0
    for c in range(p[2]):
        v = x[i]
        m, e = mantissa(v)
        e = 1 + top - e - p[4]
        m, e = put(v, m, e)
        out[o] = m + 16777216
        o += 1
        v = w[j]
        m, e = mantissa(v)
        m = m << 4
        e = top - e
        m, e = put(v, m, e)
        out[o] = m + one
        o += 1
        i += p[10]
        j += p[11]
    i = set_at(p, 5, top + 870)


def gates(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        requires p[3] < p[2]
        reads x[p[0] : p[1]]
        reads w[0 : 2 * p[2] + 4 * p[9]] if p[0] < p[1]
        writes out[p[0] : p[1]]
        writes p[6:8]
    """
    mask = all_but_sign()
    one = bit(30)
    i, c, behind = p[0], 2 * p[3], 2 * p[2]
    left, right = 29 - p[4], 0
    if left < 0:
        right, left = 0 - left, 0
    finer, coarser, limit = p[5] - 1007, 0, p[9] << 14
    if finer < 0:
        coarser, finer = min(0 - finer, 30), 0
    finer = min(finer, 30)
    limit = limit >> finer
    most = least = one
    while far(i < p[1]):
        v = x[i]
        if (v >> 31) & 1:
            v = (v & mask) - mask - 1
        v = v << left >> right
        m = w[c] - 16777216
        v, high, low = times(v, m)
        c += 1
        v += w[c] - one
        c += 1
        if c == behind:
            c = 0
        m = abs(v)
        t = (m & mask) >> coarser
        if t < limit:
            t = t << finer
            k = behind + (t >> 14 << 2)
            t = t & 16383
            s = w[k] - one
            k += 1
            s = (s * t >> 14) + w[k] - one
            k += 1
            s = (s * t >> 14) + w[k]
            k += 1
            s = (s * t >> 14) + w[k]
            if v < 0:
                s = 2097152 - s
            high, low = m >> 15, m & 32767
            m = (high * (s & 127) << 8) + low * (s >> 7) + (low * (s & 127) >> 7)
            m = (high * (s >> 7) << 1) + (m >> 14)
            if v < 0:
                m = 0 - m
            v = m
        elif v < 0:
            v = 0
        v += one
        most = max(v, most)
        least = min(v, least)
        out[i] = v
        i += 1
    i = set_at(p, 6, most)
    i += 1
    p[i] = least


def norms(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        reads w[0 : 2 * p[1]]
        writes out[p[0] : p[0] + p[1]]
        updates p[14:16]
    """
    one = bit(30)
    i, c, a, b = p[0], 0, p[11] >> 15, p[11] & 32767
    end = i + p[1]
    left, right = p[12] + p[17] - 2204, 0
    if left < 0:
        right, left = min(0 - left, 30), 0
    left = min(left, 30)
    most, least = p[14:16]
    if p[4] == 255 or p[11] == 0:
        while i < end:
            out[i] = one
            i += 1
    while i < end:
        v = x[i] - one
        high, low = v >> 15, v & 32767
        v = high * a + ((low * a + high * b + (low * b >> 15)) >> 15)
        v = v << left >> right
        m = w[c] - 16777216
        v, high, low = times(v, m)
        c += 1
        v += w[c]
        c += 1
        most = max(v, most)
        least = min(v, least)
        out[i] = v
        i += 1
    i = set_at(p, 14, most)
    i += 1
    p[i] = least


def ends(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        writes out[0:2]
    """
    one = bit(30)
    m, k = p[1] - one, 0
    while k < 2:
        e, s = p[0] - 875, 0
        while m >> s >> 24:
            s += 1
        if s:
            m = (m + (1 << (s - 1)) - 1 + ((m >> s) & 1)) >> s
        if m >> 24:
            m = m >> 1
            s += 1
        while m and m < 8388608:
            m = m << 1
            s -= 1
        e += s
        if m == 0 or e < 0:
            m = 0
        elif e > 253:
            m = 255
            m = m << 23
        else:
            m += e << 23
        out[k] = m
        m = one - p[2]
        k += 1


def octets(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        reads x[0 : p[3]]
        reads w[0:3]
        writes out[0 : p[3]]
    """
    one = bit(30)
    k = 2
    v = w[k]
    m, e = mantissa(v)
    left, right = 0, 1150 - e - p[0]
    if right < 0:
        left, right = min(0 - right, 30), 0
    right = min(right, 30)
    k = 1
    half, zero = 1 << right >> 1, w[k]
    high_m, low_m = m >> 12, m & 4095
    for i in range(p[3]):
        v = x[i] - one
        high, low = v >> 15, v & 32767
        v = (high * low_m << 3) + low * high_m + (low * low_m >> 12)
        v = (high * high_m << 3) + (v >> 12)
        v = (((v << left) + half) >> right) + zero
        v = min(max(v, 0), 255)
        out[i] = v
