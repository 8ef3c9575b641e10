"""Fixed-point arithmetic before a dynamic quantization.

Elements are integers of 29 bits and the sign, + 2**30, in a common unit. A factor has 23 bits and
the sign, + 2**24; an offset, in the same unit, + 2**30. s is a function from 0 to 1 with s(-v) = 1
- s(v). In its table, v with 17 fraction bits selects an eighth.

Products are truncated; those with a factor drop 24 bits.
"""

from ._hints import far, inline
from ._words import all_but_sign, bit, set_at
from .moments import _COLUMNS, _EXPONENT, _INVERSE, _PRODUCT_EXPONENT, _X_START

# Parameters of channels, gates, octets: as dynamic_quantize.choose
_UNIT_EXPONENT = 5  # exponent of the unit, + 1024; set by channels [exponent] 0..2047
_ELEMENTS = const(6)  # of out [elements] 0..

# Parameters of channels, gates
_LARGEST = const(7)  # of out; set by gates [value + 2**30] 0..
_SMALLEST = const(8)  # of out; set by gates [value + 2**30] 0..
_START = 9  # first element [elements] 0..
_END = const(10)  # end, exclusive [elements] 0..
_CHANNELS = const(11)  # [channels] 1..
_CHANNEL = const(12)  # of the first element [channels] 0..
_BITS = const(13)  # x is below 2**bits in magnitude [bits] 1..31
_EIGHTHS = const(14)  # eighths in the table; s is 1 behind them [eighths] 0..128

# Parameters of channels
_SCALE_STRIDE = const(15)  # 0: all channels have the first scale [elements] 0, 1
_OFFSET_STRIDE = const(16)  # 0: all channels have the first offset [elements] 0, 1

# Parameters of norms: as moments.inverse
_NORMS_UNIT_EXPONENT = 13  # exponent of the unit, + 1024 [exponent] 0..2047
_NORMS_ELEMENTS = const(14)  # of out, all rows [elements] 0..
_NORMS_LARGEST = 15  # of out so far [value + 2**30] 0..
_NORMS_SMALLEST = 16  # of out so far [value + 2**30] 0..
_POINT = 17  # fraction bits of x * inverse, + 1024 [bits] 0..2047


@inline
def times(v, m):
    """Return v * m / 2**24 for 29 bits and the sign times 24 bits and the sign.

    Temporaries: high, low.
    """
    high, low = v >> 15, v & 32767
    v = (high * (m & 4095) << 3) + low * (m >> 12) + (low * (m & 4095) >> 12)
    v = (high * (m >> 12) << 3) + (v >> 12)
    return v, high, low


@inline
def mantissa(v):
    """Return mantissa (0 for a denormal) and exponent of the float v."""
    e = (v >> 23) & 255
    m = (v & 8388607) | 8388608 if e else 0
    return m, e


@inline
def put(v, m, shift):
    """Return m, a factor or offset, with the sign of v and rounded by `shift` bits, and shift."""
    shift = min(shift, 30)
    m = (m + (1 << shift >> 1)) >> shift
    if (v >> 31) & 1:
        m = 0 - m
    return m, shift


def channels(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write a factor and an offset for each channel, from scales x and offsets w.

    Set unit_exponent.

    x and w hold float32 as words.

    Access:
        reads x[0 : (channels - 1) * scale_stride + 1]
        reads w[0 : (channels - 1) * offset_stride + 1]
        writes out[0 : 2 * channels]
        writes p[5:6]
        given magnitude(x[0 : (channels - 1) * scale_stride + 1]) < 220 << 23
        given magnitude(w[0 : (channels - 1) * offset_stride + 1]) < 220 << 23
    """
    one = bit(30)
    top = 1
    i = j = 0
    for c in range(p[_CHANNELS]):
        top = max(((x[i] >> 23) & 255) + p[_BITS], top)
        top = max((w[j] >> 23) & 255, top)
        i += p[_SCALE_STRIDE]
        j += p[_OFFSET_STRIDE]
    i = j = k = 0
    for c in range(p[_CHANNELS]):
        v = x[i]
        m, e = mantissa(v)
        e = 1 + top - e - p[_BITS]
        m, e = put(v, m, e)
        out[k] = m + 16777216
        k += 1
        v = w[j]
        m, e = mantissa(v)
        m = m << 4
        e = top - e
        m, e = put(v, m, e)
        out[k] = m + one
        k += 1
        i += p[_SCALE_STRIDE]
        j += p[_OFFSET_STRIDE]
    i = set_at(p, _UNIT_EXPONENT, top + 870)


def gates(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write v * s(v), v = x * factor + offset, of int32 x. Set largest and smallest.

    w holds what channels writes, then for each eighth four coefficients of s: those of t**3 and
    t**2, each + 2**30, then of t and 1, in units of 2**-21.

    Access:
        requires channel < channels
        reads x[start : end]
        reads w[0 : 2 * channels + 4 * eighths] if start < end
        writes out[start : end]
        writes p[7:9]
        given 0 - (1 << bits) <= x[start : end] <= 1 << bits
        given bits < 30 and 980 <= unit_exponent <= 1023
        given 1 << 23 <= w[2 * i : 2 * i + 1] <= 3 << 23 for i in range(channels)
        given (1 << 30) - (1 << 27) <= w[2 * i + 1 : 2 * i + 2] <= (1 << 30) + (1 << 27)
            for i in range(channels)
        table = [2 * channels + 4 * i for i in range(eighths)]
        given (1 << 30) - 128 <= w[i : i + 1] <= (1 << 30) + 128 for i in table
        given (1 << 30) - 4096 <= w[i + 1 : i + 2] <= (1 << 30) + 4096 for i in table
        given 0 <= w[i + 2 : i + 3] < 100000 for i in table
        given 1 << 20 <= w[i + 3 : i + 4] < (1 << 21) - 110000 for i in table
    """
    mask = all_but_sign()
    one = bit(30)
    i, factor_at, table = p[_START], 2 * p[_CHANNEL], 2 * p[_CHANNELS]
    left, right = 29 - p[_BITS], 0
    if left < 0:
        right, left = 0 - left, 0
    up, down, limit = p[_UNIT_EXPONENT] - 1007, 0, p[_EIGHTHS] << 14
    if up < 0:
        down, up = min(0 - up, 30), 0
    up = min(up, 30)
    limit = limit >> up
    most = least = one
    while far(i < p[_END]):
        v = x[i]
        if (v >> 31) & 1:
            v = (v & mask) - mask - 1
        v = v << left >> right
        m = w[factor_at] - 16777216
        v, high, low = times(v, m)
        factor_at += 1
        v += w[factor_at] - one
        factor_at += 1
        if factor_at == table:
            factor_at = 0
        m = abs(v)
        t = (m & mask) >> down
        if t < limit:
            t = t << up
            k = table + (t >> 14 << 2)
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
    i = set_at(p, _LARGEST, most)
    i += 1
    p[i] = least


def norms(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write x * inverse * factor + offset, with x and inverse of loops/moments.

    w holds a factor and an offset for each element. Write 0 for a row with inf or NaN, or whose
    deviation is 0. Update norms_largest and norms_smallest.

    Access:
        reads x[x_start : x_start + columns]
        reads w[0 : 2 * columns]
        writes out[x_start : x_start + columns]
        updates p[15:17]
        given (1 << 29) <= x[x_start : x_start + columns] <= 3 << 29
        given inverse == 0 or inverse >= 1 << 29
        given 1192 <= product_exponent + point <= 2204
        given 1 << 23 <= w[2 * i : 2 * i + 1] <= 3 << 23 for i in range(columns)
        given (1 << 30) - (1 << 27) <= w[2 * i + 1 : 2 * i + 2] <= (1 << 30) + (1 << 27)
            for i in range(columns)
    """
    one = bit(30)
    i, factor_at = p[_X_START], 0
    inverse_high, inverse_low = p[_INVERSE] >> 15, p[_INVERSE] & 32767
    end = i + p[_COLUMNS]
    left, right = p[_PRODUCT_EXPONENT] + p[_POINT] - 2204, 0
    if left < 0:
        right, left = min(0 - left, 30), 0
    left = min(left, 30)
    most, least = p[_NORMS_LARGEST], p[_NORMS_SMALLEST]
    if p[_EXPONENT] == 255 or p[_INVERSE] == 0:
        while i < end:
            out[i] = one
            i += 1
    while i < end:
        v = x[i] - one
        high, low = v >> 15, v & 32767
        v = high * inverse_high + (
            (low * inverse_high + high * inverse_low + (low * inverse_low >> 15)) >> 15
        )
        v = v << left >> right
        m = w[factor_at] - 16777216
        v, high, low = times(v, m)
        factor_at += 1
        v += w[factor_at]
        factor_at += 1
        most = max(v, most)
        least = min(v, least)
        out[i] = v
        i += 1
    i = set_at(p, _NORMS_LARGEST, most)
    i += 1
    p[i] = least


def ends(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write the largest element and the magnitude of the smallest as float32.

    x holds four words of the preceding block: unit_exponent, elements, largest and smallest.

    Access:
        reads x[0:4]
        writes out[0:2]
        given 800 <= x[0 : 1] < 1200
        given 0 <= x[2 : 4]
    """
    one = bit(30)
    m, k = x[2] - one, 0
    while k < 2:
        # Elements of a damaged model may overflow: a negative m would be shifted forever.
        m = max(m, 0)
        e, s = x[0] - 875, 0
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
        m = one - x[3]
        k += 1


def octets(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """Quantize x to bytes.

    w holds scale, zero point and inverse scale, as dynamic_quantize.choose writes them.

    Access:
        reads x[0 : elements]
        reads w[0:3]
        writes out[0 : elements]
        given 982 <= unit_exponent <= 1010
        given 0 <= w[1:2] < 256
        given 110 << 23 <= w[2:3] < 141 << 23
        given 3 << 28 <= x[0 : elements] <= 5 << 28
    """
    one = bit(30)
    k = 2
    v = w[k]
    m, e = mantissa(v)
    left, right = 0, 1150 - e - p[_UNIT_EXPONENT]
    if right < 0:
        left, right = min(0 - right, 30), 0
    right = min(right, 30)
    k = 1
    half, zero = 1 << right >> 1, w[k]
    high_m, low_m = m >> 12, m & 4095
    for i in range(p[_ELEMENTS]):
        v = x[i] - one
        high, low = v >> 15, v & 32767
        v = (high * low_m << 3) + low * high_m + (low * low_m >> 12)
        v = (high * high_m << 3) + (v >> 12)
        v = (((v << left) + half) >> right) + zero
        v = min(max(v, 0), 255)
        out[i] = v
