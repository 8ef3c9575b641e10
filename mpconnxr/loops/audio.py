"""Spectra of sound in integers: window, FFT, mel bands, logarithms. See mpconnxr.io.audio.

A spectrum is n words of real parts, then n of imaginary parts, each plus BIAS. Values stay below
2**16, so that a product with a 14-bit cosine fits 31 bits. A frame shares one exponent.
"""

from ._words import magnitude, set_at

# Parameters of window
_X_START = const(0)  # first sample [bytes] 0..
_LENGTH = const(1)  # length of the frame, a power of two [samples] 16..1024
_LENGTH_BITS = const(2)  # log2(length) [bits] 4..10
_SHIFT_UP = const(3)  # shift of the samples, set by the loop [bits] 0..14
# Parameters of fft, mel
_SPECTRUM_LENGTH = const(0)  # complex numbers of the spectrum, a power of two [numbers] 16..1024
# Parameters of fft
_SHIFT_DOWN = const(1)  # shift of the spectrum, set by the loop [bits] 0..
# Parameters of mel
_FIRST_BIN = const(1)  # [bins] 0..
_BINS = const(2)  # [bins] 1..
_BANDS = const(3)  # [bands] 1..
_MEL_SHIFT_DOWN = const(4)  # shift of the parts, set by the loop [bits] 0..
# Parameters of logs
_LOGS_BANDS = const(0)  # [bands] 1..
_EXPONENT = const(1)  # power of two by which the bands are multiplied [exponent, BIAS] -1024..1023


def window(x: ptr8, w: ptr16, out: ptr32, p: ptr32):
    """Multiply samples by the window, in bit-reversed order for the FFT.

    x holds int16 samples, low byte first. w holds the first half of the window and its middle, 15
    bits each. out becomes a spectrum.

    Access:
        requires length == 1 << length_bits
        reads x[x_start : x_start + 2 * length]
        reads w[0 : length // 2 + 1]
        writes out[0 : 2 * length]
        writes p[3 : 4]
        given w[0 : length // 2 + 1] < 1 << 15
    """
    length, first, most = p[_LENGTH], p[_X_START], 1
    for i in range(length):
        v = x[first + 2 * i] | x[first + 2 * i + 1] << 8
        if v >= 32768:
            v = 65535 - v
        most |= v
    up = 0
    while most < 16384:
        most <<= 1
        up += 1
    i = set_at(p, _SHIFT_UP, up)
    for i in range(length):
        v = x[first + 2 * i] | x[first + 2 * i + 1] << 8
        if v >= 32768:
            v -= 65536
        k = i
        if k + k > length:
            k = length - k
        v, j, k = (v << up) * w[k] >> 15, 0, i
        for bit in range(p[_LENGTH_BITS]):
            j = j << 1 | (k & 1)
            k >>= 1
        out[j] = v + (1 << 29)
        out[length + j] = 1 << 29


def fft(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """Compute the Fourier transform of out in place, radix 2.

    Each pass shifts down if values could overflow. With n = spectrum_length, w holds 1 + cos(2 pi
    k / n) with 14 bits, for k below n / 2 and n / 4 more. out is a spectrum in bit-reversed order.
    x is not read.

    Access:
        requires spectrum_length & (spectrum_length - 1) == 0
        reads w[0 : spectrum_length // 2 + spectrum_length // 4]
        updates out[0 : 2 * spectrum_length]
        writes p[1 : 2]
        given w[0 : spectrum_length // 2 + spectrum_length // 4] <= 1 << 15
        given BIAS - (1 << 16) <= out[0 : 2 * spectrum_length] < BIAS + (1 << 16)
    """
    length, total, half = p[_SPECTRUM_LENGTH], 0, 1
    while half < length:
        most = 0
        for i in range(length + length):
            v = magnitude(out[i] - (1 << 29))
            most = max(v, most)
        down = 0  # a butterfly makes a part at most 1 + sqrt(2) times as large
        if most >= 27000:
            down = 1
        if most >= 54000:
            down = 2
        total += down
        stride = length // (half + half)
        for k in range(half):
            cosine = w[k * stride] - 16384
            sine = 16384 - w[k * stride + length // 4]  # -cos(a + pi/2) = sin(a)
            for i in range(k, length, half + half):
                j = i + half
                a_real = (out[i] - (1 << 29)) >> down
                a_imag = (out[length + i] - (1 << 29)) >> down
                b_real = (out[j] - (1 << 29)) >> down
                b_imag = (out[length + j] - (1 << 29)) >> down
                v = (b_real * cosine + b_imag * sine + 8192) >> 14
                b_imag = (b_imag * cosine - b_real * sine + 8192) >> 14
                out[i] = a_real + v + (1 << 29)
                out[length + i] = a_imag + b_imag + (1 << 29)
                out[j] = a_real - v + (1 << 29)
                out[length + j] = a_imag - b_imag + (1 << 29)
        half += half
    i = set_at(p, _SHIFT_DOWN, total)


def mel(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """Sum the power of the spectrum's bins over triangular bands.

    x is a spectrum. w holds, for each bin from first_bin on, the band whose triangle rises there
    and its weight, 8 bits; the band below gets the rest of the weight. out holds, for each band
    and one before, the upper part of the sum (times 2**14), then its lower part.

    Access:
        reads x[first_bin : first_bin + bins]
        reads x[spectrum_length + first_bin : spectrum_length + first_bin + bins]
        reads w[0 : 2 * bins]
        writes out[0 : 2 * bands + 2]
        writes p[4 : 5]
        given first_bin + bins <= spectrum_length // 2 + 1
        given BIAS - (1 << 16) <= x[0 : 2 * spectrum_length] < BIAS + (1 << 16)
        given 0 <= w[2 * i : 2 * i + 1] < bands for i in range(bins)
        given 0 <= w[2 * i + 1 : 2 * i + 2] <= 256 for i in range(bins)
    """
    length, first, most = p[_SPECTRUM_LENGTH], p[_FIRST_BIN], 0
    for i in range(first, first + p[_BINS]):
        v = magnitude(x[i] - (1 << 29))
        most |= v
        v = magnitude(x[length + i] - (1 << 29))
        most |= v
    down = 0
    while most >> down >= 16384:
        down += 1
    i = set_at(p, _MEL_SHIFT_DOWN, down)
    for i in range(2 * p[_BANDS] + 2):
        out[i] = 0
    for i in range(p[_BINS]):
        v = (x[first + i] - (1 << 29)) >> down
        k = (x[length + first + i] - (1 << 29)) >> down
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
    """Compute 256 * log2(band * 2**exponent) of each band, or 0 where that is negative.

    x holds the sums of mel; w holds 4096 * log2(1 + i / 64), i from 0 to 64; out gets a number per
    band.

    Access:
        reads x[2 : 2 * logs_bands + 2]
        reads w[0 : 65]
        writes out[0 : logs_bands]
        given 0 <= x[2 : 2 * logs_bands + 2] < 1 << 30
        given w[0 : 65] <= 4096
    """
    for b in range(p[_LOGS_BANDS]):
        high, v = x[2 * b + 2], x[2 * b + 3]
        high += v >> 14
        exponent = p[_EXPONENT] - (1 << 29)
        if high < 16384:
            v = high << 14 | (v & 16383)
        else:
            v = high
            exponent += 14
        if v == 0:
            out[b] = 0
        else:
            while v >= 32768:
                v >>= 1
                exponent += 1
            while v < 16384:
                v <<= 1
                exponent -= 1
            k = v - 16384 >> 8
            high = w[k]
            high += (w[k + 1] - high) * (v & 255) >> 8
            v = max((exponent + 14) * 256 + (high + 8 >> 4), 0)
            out[b] = v
