"""Spectra of sound in integers: window, FFT, mel bands, logarithms. Written once, in the common
subset of Python and viper; mpconnxr.audio says what they compute together.

A spectrum is n words of real parts, then n of imaginary ones, each plus BIAS. Values stay below
2**16, so that a product with a 14-bit cosine fits 31 bits; a frame has one exponent for all.
"""

from ._words import magnitude, set_at


def window(x: ptr8, w: ptr16, out: ptr32, p: ptr32):
    """Samples times the window, in the order that the FFT begins with.

    x    int16, from byte p[0] on
    w    the first half of the window with its middle, 15 bits
    out  spectrum
    p    first byte, n, bits of n, then written: bits by which the samples were shifted up

    Access:
        first, n, bits = p[0:3]
        requires n == 1 << bits
        reads x[first : first + 2 * n]
        reads w[0 : n // 2 + 1]
        writes out[0 : 2 * n]
        writes p[3 : 4]
    """
    n, first, most = p[1], p[0], 1
    for i in range(n):
        v = x[first + 2 * i] | x[first + 2 * i + 1] << 8
        if v >= 32768:
            v = 65535 - v
        most |= v
    up = 0
    while most < 16384:
        most <<= 1
        up += 1
    i = set_at(p, 3, up)
    for i in range(n):
        v = x[first + 2 * i] | x[first + 2 * i + 1] << 8
        if v >= 32768:
            v -= 65536
        k = i
        if k + k > n:
            k = n - k
        v, j, k = (v << up) * w[k] >> 15, 0, i
        for bit in range(p[2]):
            j = j << 1 | (k & 1)
            k >>= 1
        out[j] = v + (1 << 29)
        out[n + j] = 1 << 29


def fft(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """Fourier transform in place, radix 2. Each round shifts down what would grow too large.

    x    not read
    w    1 + cos(2 pi k / n), 14 bits, for k below n / 2 and n / 4 more
    out  spectrum, in the order of bit-reversed indices
    p    n, then written: bits by which the values were shifted down

    Access:
        n = p[0]
        requires n & (n - 1) == 0
        reads w[0 : n // 2 + n // 4]
        updates out[0 : 2 * n]
        writes p[1 : 2]
    """
    n, total, half = p[0], 0, 1
    while half < n:
        most = 0
        for i in range(n + n):
            v = magnitude(out[i] - (1 << 29))
            most = max(v, most)
        down = 0  # a butterfly makes a part at most 1 + sqrt(2) times as large
        if most >= 27000:
            down = 1
        if most >= 54000:
            down = 2
        total += down
        stride = n // (half + half)
        for k in range(half):
            c = w[k * stride] - 16384
            s = 16384 - w[k * stride + n // 4]  # -cos(a + pi/2) = sin(a)
            for i in range(k, n, half + half):
                j = i + half
                ar = (out[i] - (1 << 29)) >> down
                ai = (out[n + i] - (1 << 29)) >> down
                br = (out[j] - (1 << 29)) >> down
                bi = (out[n + j] - (1 << 29)) >> down
                v = (br * c + bi * s + 8192) >> 14
                bi = (bi * c - br * s + 8192) >> 14
                out[i] = ar + v + (1 << 29)
                out[n + i] = ai + bi + (1 << 29)
                out[j] = ar - v + (1 << 29)
                out[n + j] = ai - bi + (1 << 29)
        half += half
    i = set_at(p, 1, total)


def mel(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """Powers of the spectrum's bins, added up in triangles.

    x    spectrum
    w    for each bin from first on the band whose triangle rises there, and its weight, 8 bits;
         the band below has the rest of the weight
    out  for each band and one before: the sum's upper part (times 2**14), then its lower part
    p    n, first bin, bins, bands, then written: bits by which the parts were shifted down

    Access:
        n, first, bins, bands = p[0:4]
        given the bands in w are below p[3]
        reads x[first : first + bins]
        reads x[n + first : n + first + bins]
        reads w[0 : 2 * bins]
        writes out[0 : 2 * bands + 2]
        writes p[4 : 5]
    """
    n, first, most = p[0], p[1], 0
    for i in range(first, first + p[2]):
        v = magnitude(x[i] - (1 << 29))
        most |= v
        v = magnitude(x[n + i] - (1 << 29))
        most |= v
    down = 0
    while most >> down >= 16384:
        down += 1
    i = set_at(p, 4, down)
    for i in range(2 * p[3] + 2):
        out[i] = 0
    for i in range(p[2]):
        v = (x[first + i] - (1 << 29)) >> down
        k = (x[n + first + i] - (1 << 29)) >> down
        v = v * v + k * k
        high = v >> 14
        v &= 16383
        k, weight = w[2 * i] * 2, w[2 * i + 1]
        out[k + 2] = out[k + 2] + high * weight
        out[k + 3] = out[k + 3] + v * weight
        weight = 256 - weight
        out[k] = out[k] + high * weight
        out[k + 1] = out[k + 1] + v * weight


def logs(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """256 * log2 of the bands, times 2 to a power; 0 where that is negative.

    x    what mel made
    w    4096 * log2(1 + i / 64), i from 0 to 64
    out  int32, a number for each band
    p    bands, that power plus BIAS

    Access:
        reads x[2 : 2 * p[0] + 2]
        reads w[0 : 65] if p[0]
        writes out[0 : p[0]]
    """
    for b in range(p[0]):
        high, v = x[2 * b + 2], x[2 * b + 3]
        high += v >> 14
        e = p[1] - (1 << 29)
        if high < 16384:
            v = high << 14 | (v & 16383)
        else:
            v = high
            e += 14
        if v == 0:
            out[b] = 0
        else:
            while v >= 32768:
                v >>= 1
                e += 1
            while v < 16384:
                v <<= 1
                e -= 1
            k = v - 16384 >> 8
            high = w[k]
            high += (w[k + 1] - high) * (v & 255) >> 8
            v = max((e + 14) * 256 + (high + 8 >> 4), 0)
            out[b] = v
