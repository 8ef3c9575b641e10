"""Softmax of quantized bytes by a table of exponentials. Written once, for Python and viper.

powers    the table: each item is the one before it times p[1] / 2**15 + p[2] / 2**30, from p[0] on

    out  256 words;  p  the first item, at most 2**20; 15 bits and 15 bits of the factor

It carries 9 bits more than an item has, in products of 15 bits: an item is less than a unit from
the power.

softmax8

    x, out  bytes (outer, n, inner);  w  256 words: exp(-d * x_scale), of the distance d from the
            largest of a line
    p    lo and hi (range of lines, outer * inner), n, inner, flip, factor, shift, zy

    out = limited(round(w[d] * factor / (sum of the line's w << shift)) + zy)

limited to 0 .. 255; w[0], the largest one, is 2**15 or more. Signed bytes are made unsigned by
flip, also those of out.
"""


def powers(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        writes out[0 : 256]
    """
    i = 0
    v = p[i] << 9
    while i < 256:
        out[i] = (v + 256) >> 9
        high = v >> 15
        v = v & 32767
        v = v * p[1] + ((v * p[2]) >> 15)
        v = high * p[1] + ((high * p[2] + 16384) >> 15) + ((v + 16384) >> 15)
        i += 1


def softmax8(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        n, inner = p[2], max(p[3], 1)
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x[low : high] if p[0] < p[1]
        reads w[0 : 256] if p[0] < p[1]
        writes out[low : high] if p[0] < p[1]
    """
    flip, least = p[4], 1 << 15
    cut, i = 0, 0
    while p[0] < p[1] and w[i] * p[5] >> cut >= least:
        cut += 1
    left, first = p[3] - p[0] % p[3], p[0] // p[3] * p[2] * p[3] + p[0] % p[3]
    for lines in range(p[1] - p[0], 0, -1):
        end, largest = first + p[2] * p[3], 0
        for i in range(first, end, p[3]):
            v = x[i] ^ flip
            largest = max(v, largest)
        total = 0
        for i in range(first, end, p[3]):
            total += w[largest - (x[i] ^ flip)]
        total = total << p[6]
        k, half = 0, total >> 1
        while total >> k >= least << 1:
            k += 1
        # A quotient is about the dividend's 15 bits times 16 bits of 1 / total.
        inverse, shift = (least << 15) // ((total >> k) + 1), min(30 + k - cut, 30)
        for i in range(first, end, p[3]):
            v = w[largest - (x[i] ^ flip)] * p[5]
            q = (v >> cut) * inverse >> shift
            v += half - q * total
            while v >= total:
                v -= total
                q += 1
            v = min(q + p[7], 255)
            out[i] = v ^ flip
        first += 1
        left -= 1
        if left == 0:
            left = p[3]
            first = end - left + 1
