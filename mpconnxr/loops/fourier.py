"""Fourier transform of one line of float32, in integers.

x and out are those of loops/dft, as float32 in words. A number of the work array is two words, its
real and imaginary part with 28 bits, plus BIAS; a line shares one exponent. Before a pass, the
line is shifted down if parts could reach 2**29. The passes are those of loops/dft. Products are
computed from halves of 14 bits and more. Each pass loses half a unit of the 28 bits, so that the
result is as exact as that of a transform in float32.
"""

from ._hints import far, inline
from ._words import nan_bits, swap
from .dft import _INNER, _LENGTH, _LINE, _OUT_LENGTH, _PARTS, _RESULT_START, _TRANSFORM, _X_LENGTH

# Parameters of load32, transform32, store32: as dft.load
_EXPONENT = const(8)  # biased exponent of the line, set by load32, transform32 [exponent] 0..511
_IS_NAN = const(9)  # the line has inf or NaN, set by load32 [flag] 0, 1
_FACTOR = 10  # of an inverse, with 28 fraction bits; 0: none [multiplier] 0..2**28
_FACTOR_SHIFT = 11  # right shift of the product with factor [bits] 0..31


@inline
def halves(v):
    """Return the lower 14 bits and the upper part of v, which has 29 bits and a sign."""
    high = v >> 14
    v = v & 16383
    return v, high


@inline
def mantissa(v, exponent):
    """Return m = 28 bits of the float32 v, plus BIAS, for the exponent of its line.

    Temporary: e.
    """
    e, m = (v >> 23) & 255, v & 0x7FFFFF
    if e:
        m = m | 0x800000
    else:
        e = 1
    e = min(exponent - e, 30)
    m = ((m << 4) + (1 << e >> 1)) >> e
    if (v >> 31) & 1:
        m = 0 - m
    m += 1 << 29
    return m, e


def load32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write x's line as complex numbers into the first half of out.

    Zeros, or the mirrored conjugate, follow.

    Access:
        taken = min(x_length, length)
        first = (line // inner * x_length * inner + line % inner) * parts
        reads x[first : first + ((taken - 1) * inner + 1) * parts] if taken
        writes out[0 : 2 * length]
        writes p[8 : 10]
    """
    length, inner, parts, zero = p[_LENGTH], p[_INNER], p[_PARTS], 1 << 29
    n, line = min(p[_X_LENGTH], length), p[_LINE]
    first = (line // inner * p[_X_LENGTH] * inner + line % inner) * parts
    i, most = first, 1
    for j in range(n):
        for k in range(parts):
            e = (x[i + k] >> 23) & 255
            most = max(e, most)
        i += inner * parts
    flag = 1 if most == 255 else 0
    i = _EXPONENT
    p[i] = most
    i += 1  # is_nan
    p[i] = flag
    if flag:
        n = 0
    i = first
    for j in range(length):
        m = k = zero
        if j < n:
            v = x[i]
            m, e = mantissa(v, most)
            if parts == 2:
                v = x[i + 1]
                k, e = mantissa(v, most)
        out[2 * j] = m
        out[2 * j + 1] = k
        i += inner * parts
    if p[_TRANSFORM] == 2:
        i = 1
        out[i] = zero
        if length % 2 == 0:
            out[length + 1] = zero
        for j in range(length // 2 + 1, length):
            out[2 * j] = out[2 * (length - j)]
            out[2 * j + 1] = zero + zero - out[2 * (length - j) + 1]


def transform32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Transform out, the work array, by the table w, and set result_start.

    w holds cosines and sines with 28 fraction bits, plus BIAS.

    Access:
        reads w[0 : 2 * length] if length > 1
        updates out[0 : 4 * length] if length > 1
        writes p[1:2]
        writes p[8:9]
        given BIAS - (1 << 28) <= w[0 : 2 * length] <= BIAS + (1 << 28)
        given w[0 : 1] == BIAS + (1 << 28)
        given w[1 : 2] == BIAS
        given BIAS - (1 << 27) <= out[0 : 4 * length] < BIAS + (1 << 27)
    """
    length, source, zero = p[_LENGTH], 0, 1 << 29
    target, count, is_forward = 2 * length, 1, p[_TRANSFORM] == 0
    while length % (2 * count) == 0:
        count = count + count
    size, most = length // count, zero >> 1
    if size > 1:
        # exact sums by definition, for an odd length; none exceeds the sum of magnitudes
        most, shift = 1, 1
        for t in range(count):
            i, v = source + 2 * t, size
            for j in range(size):
                a, b = out[i] - zero, out[i + 1] - zero
                a, b = abs(a), abs(b)
                v += (a + b) >> 14
                i += 2 * count
            most = max(v, most)
        while most >> shift >> 15:
            shift += 1
        most = 1
        for t in far(range(length)):
            k, at, i = t // count, 0, source + 2 * (t % count)
            high = low = more = rest = 0
            for j in range(size):
                cosine, sine = w[2 * at * count] - zero, w[2 * at * count + 1] - zero
                if is_forward:
                    sine = 0 - sine
                a, b = out[i] - zero, out[i + 1] - zero
                a, a_high = halves(a)
                b, b_high = halves(b)
                cosine, cosine_high = halves(cosine)
                sine, sine_high = halves(sine)
                v = a_high * cosine_high - b_high * sine_high
                v += (
                    a_high * cosine
                    + a * cosine_high
                    - b_high * sine
                    - b * sine_high
                    + ((a * cosine - b * sine) >> 14)
                    + 8192
                ) >> 14
                high += v >> 14
                low += v & 16383
                v = a_high * sine_high + b_high * cosine_high
                v += (
                    a_high * sine
                    + a * sine_high
                    + b_high * cosine
                    + b * cosine_high
                    + ((a * sine + b * cosine) >> 14)
                    + 8192
                ) >> 14
                more += v >> 14
                rest += v & 16383
                i += 2 * count
                at += k
                if at >= size:
                    at -= size
            i = target + 2 * t
            a = ((high << (15 - shift)) + (low >> (shift - 1)) + 1) >> 1
            b = ((more << (15 - shift)) + (rest >> (shift - 1)) + 1) >> 1
            most = most | (a ^ (a >> 31)) | (b ^ (b >> 31))
            out[i] = a + zero
            out[i + 1] = b + zero
        i = _EXPONENT
        p[i] = p[_EXPONENT] + shift
        source, target, i = swap(source, target)
    while far(1 < count):
        # join transforms t and t + half, whose elements are interleaved
        half, down = count >> 1, 0
        if most >= 222000000:
            down = 1
        if most >= 444000000:
            down = 2
        i = _EXPONENT
        p[i] = p[_EXPONENT] + down
        most = 1
        for k in far(range(size)):
            cosine, sine = w[2 * k * half] - zero, w[2 * k * half + 1] - zero
            if is_forward:
                sine = 0 - sine
            cosine, cosine_high = halves(cosine)
            sine, sine_high = halves(sine)
            i, j = source + 2 * k * count, target + 2 * k * half
            end = j + 2 * half
            while far(j < end):
                a, b = (out[i + 2 * half] - zero) >> down, (out[i + 2 * half + 1] - zero) >> down
                a, a_high = halves(a)
                b, b_high = halves(b)
                v = a_high * cosine_high - b_high * sine_high
                v += (
                    a_high * cosine
                    + a * cosine_high
                    - b_high * sine
                    - b * sine_high
                    + ((a * cosine - b * sine) >> 14)
                    + 8192
                ) >> 14
                b = (
                    a_high * sine
                    + a * sine_high
                    + b_high * cosine
                    + b * cosine_high
                    + ((a * sine + b * cosine) >> 14)
                    + 8192
                    >> 14
                )
                b += a_high * sine_high + b_high * cosine_high
                a = (out[i] - zero) >> down
                at = a - v
                a += v
                most = most | (a ^ (a >> 31)) | (at ^ (at >> 31))
                out[j] = a + zero
                out[j + 2 * size * half] = at + zero
                a = (out[i + 1] - zero) >> down
                at = a - b
                a += b
                most = most | (a ^ (a >> 31)) | (at ^ (at >> 31))
                out[j + 1] = a + zero
                out[j + 2 * size * half + 1] = at + zero
                i += 2
                j += 2
        source, target, i = swap(source, target)
        size, count = size + size, half
    i = _RESULT_START
    p[i] = source


def store32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write the result, in x, as float32; NaN if the line had inf or NaN.

    Access:
        out_parts = 1 if transform == 2 else 2
        first = (line // inner * out_length * inner + line % inner) * out_parts
        reads x[result_start : result_start + 2 * out_length]
        writes out[first : first + ((out_length - 1) * inner + 1) * out_parts]
        given BIAS - (1 << 27) <= x[result_start : result_start + 2 * out_length]
            < BIAS + (1 << 27)
    """
    inner, parts, j, line, one = p[_INNER], 2, p[_RESULT_START], p[_LINE], 1
    if p[_TRANSFORM] == 2:
        parts = 1
    factor, e = p[_FACTOR], p[_EXPONENT] - p[_FACTOR_SHIFT]
    factor_high, factor_low = factor >> 14, factor & 16383
    i = (line // inner * p[_OUT_LENGTH] * inner + line % inner) * parts
    for n in range(p[_OUT_LENGTH]):
        for k in range(parts):
            v, sign = x[j + k] - (1 << 29), 0
            if factor:
                v, a = halves(v)
                v = a * factor_high + (
                    (a * factor_low + v * factor_high + ((v * factor_low) >> 14) + 8192) >> 14
                )
            if v < 0:
                v, sign = 0 - v, 1
            a = e + 2
            if v:
                while v < one << 17:
                    v = v << 12
                    a -= 12
                while v < one << 29:
                    v = v << 1
                    a -= 1
                s = 6
                if a < 1:
                    s = min(7 - a, 30)
                    a = 1
                v = ((v + (one << s >> 1)) >> s) + ((a - 1) << 23)
                if a > 254:
                    v = (one << 31) - (one << 23)
            if p[_IS_NAN]:
                v = nan_bits()
                sign = 0
            if sign:
                v = v - (one << 31)
            out[i + k] = v
        i += inner * parts
        j += 2
