"""One Fourier transform of float32, in integers. Written once, in the common subset.

p    line, first item of the result, op, n, inner, parts, length, n_out (see the kernel); then
     written by load32: biased exponent of the largest part, and 1 if the line has inf or NaN; last
     a factor of 28 bits for an inverse (0: none), and the power of two by which that is too large

A number is two words, its real and its imaginary part in 28 bits, plus BIAS; a line has one
exponent. Before a pass it is shifted down if parts may reach 2**29. The passes are those of
loops/dft. A product is that of halves, of 14 bits and more. Each pass loses half a unit of these
28 bits, so that the result is as exact as that of a transform in float32.
"""

from ._hints import far, inline
from ._words import nan_bits, swap


@inline
def halves(v):
    """Return the lower 14 bits of v, which has 29 and a sign, and its upper part."""
    high = v >> 14
    v = v & 16383
    return v, high


@inline
def mantissa(v, most):
    """Return m = 28 bits of the float32 v, plus BIAS. most: the exponent of the line. e: room."""
    e, m = (v >> 23) & 255, v & 0x7FFFFF
    if e:
        m = m | 0x800000
    else:
        e = 1
    e = min(most - e, 30)
    m = ((m << 4) + (1 << e >> 1)) >> e
    if (v >> 31) & 1:
        m = 0 - m
    m += 1 << 29
    return m, e


def load32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """x's line into the first half of out, as complex numbers: zeros behind it, or the mirrored
    conjugate.

    Access:
        n, inner, parts = p[3:6]
        first = (p[0] // inner * n * inner + p[0] % inner) * parts
        reads x[first : first + ((min(n, p[6]) - 1) * inner + 1) * parts] if min(n, p[6])
        writes out[0 : 2 * p[6]]
        writes p[8 : 10]
    """
    length, inner, parts, zero = p[6], p[4], p[5], 1 << 29
    n, line = min(p[3], length), p[0]
    first = (line // inner * p[3] * inner + line % inner) * parts
    i, most = first, 1
    for j in range(n):
        for k in range(parts):
            e = (x[i + k] >> 23) & 255
            most = max(e, most)
        i += inner * parts
    flag = 1 if most == 255 else 0
    i = 8
    p[i] = most
    i += 1
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
    if p[2] == 2:
        i = 1
        out[i] = zero
        if length % 2 == 0:
            out[length + 1] = zero
        for j in range(length // 2 + 1, length):
            out[2 * j] = out[2 * (length - j)]
            out[2 * j + 1] = zero + zero - out[2 * (length - j) + 1]


def transform32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """w: the table, 28 bits behind the point, plus BIAS; p[1] becomes where in out the result is.

    Access:
        requires p[6] > 0
        given the table has cosines and sines
        reads w[0 : 2 * p[6]] if p[6] > 1
        updates out[0 : 4 * p[6]] if p[6] > 1
        writes p[1:2]
        writes p[8:9]
    """
    length, source, zero = p[6], 0, 1 << 29
    target, count, is_forward = 2 * length, 1, p[2] == 0
    while length % (2 * count) == 0:
        count = count + count
    done, most = length // count, zero >> 1
    if done > 1:
        # the sums as they are written, exact, for an odd length; none is larger than that of sizes
        most, shift = 1, 1
        for t in range(count):
            i, v = source + 2 * t, done
            for j in range(done):
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
            for j in range(done):
                c, s = w[2 * at * count] - zero, w[2 * at * count + 1] - zero
                if is_forward:
                    s = 0 - s
                a, b = out[i] - zero, out[i + 1] - zero
                a, ah = halves(a)
                b, bh = halves(b)
                c, ch = halves(c)
                s, sh = halves(s)
                v = ah * ch - bh * sh
                v += (ah * c + a * ch - bh * s - b * sh + ((a * c - b * s) >> 14) + 8192) >> 14
                high += v >> 14
                low += v & 16383
                v = ah * sh + bh * ch
                v += (ah * s + a * sh + bh * c + b * ch + ((a * s + b * c) >> 14) + 8192) >> 14
                more += v >> 14
                rest += v & 16383
                i += 2 * count
                at += k
                if at >= done:
                    at -= done
            i = target + 2 * t
            a = ((high << (15 - shift)) + (low >> (shift - 1)) + 1) >> 1
            b = ((more << (15 - shift)) + (rest >> (shift - 1)) + 1) >> 1
            most = most | (a ^ (a >> 31)) | (b ^ (b >> 31))
            out[i] = a + zero
            out[i + 1] = b + zero
        i = 8
        p[i] = p[8] + shift
        source, target, i = swap(source, target)
    while far(1 < count):
        # transform t takes in t + half, its items in between
        half, down = count >> 1, 0
        if most >= 222000000:
            down = 1
        if most >= 444000000:
            down = 2
        i = 8
        p[i] = p[8] + down
        most = 1
        for k in far(range(done)):
            c, s = w[2 * k * half] - zero, w[2 * k * half + 1] - zero
            if is_forward:
                s = 0 - s
            c, ch = halves(c)
            s, sh = halves(s)
            i, j = source + 2 * k * count, target + 2 * k * half
            end = j + 2 * half
            while far(j < end):
                a, b = (out[i + 2 * half] - zero) >> down, (out[i + 2 * half + 1] - zero) >> down
                a, ah = halves(a)
                b, bh = halves(b)
                v = ah * ch - bh * sh
                v += (ah * c + a * ch - bh * s - b * sh + ((a * c - b * s) >> 14) + 8192) >> 14
                b = ah * s + a * sh + bh * c + b * ch + ((a * s + b * c) >> 14) + 8192 >> 14
                b += ah * sh + bh * ch
                a = (out[i] - zero) >> down
                at = a - v
                a += v
                most = most | (a ^ (a >> 31)) | (at ^ (at >> 31))
                out[j] = a + zero
                out[j + 2 * done * half] = at + zero
                a = (out[i + 1] - zero) >> down
                at = a - b
                a += b
                most = most | (a ^ (a >> 31)) | (at ^ (at >> 31))
                out[j + 1] = a + zero
                out[j + 2 * done * half + 1] = at + zero
                i += 2
                j += 2
        source, target, i = swap(source, target)
        done, count = done + done, half
    i = 1
    p[i] = source


def store32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """The result, in x, as float32; NaN if the line had inf or NaN.

    Access:
        inner, n, parts = p[4], p[7], 1 if p[2] == 2 else 2
        first = (p[0] // inner * n * inner + p[0] % inner) * parts
        reads x[p[1] : p[1] + 2 * n]
        writes out[first : first + ((n - 1) * inner + 1) * parts] if n
    """
    inner, parts, j, line, one = p[4], 2, p[1], p[0], 1
    if p[2] == 2:
        parts = 1
    factor, e = p[10], p[8] - p[11]
    ch, c = factor >> 14, factor & 16383
    i = (line // inner * p[7] * inner + line % inner) * parts
    for n in range(p[7]):
        for k in range(parts):
            v, sign = x[j + k] - (1 << 29), 0
            if factor:
                v, a = halves(v)
                v = a * ch + ((a * c + v * ch + ((v * c) >> 14) + 8192) >> 14)
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
            if p[9]:
                v = nan_bits()
                sign = 0
            if sign:
                v = v - (one << 31)
            out[i + k] = v
        i += inner * parts
        j += 2
