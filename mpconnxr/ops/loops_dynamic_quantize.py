"""Range of floats, and their bytes, by their bits. Written once, in the common subset.

    x    float32 as words
    p    0, number of items, mask of the bits without the sign, bits of infinity, zero point

ends: out gets the largest float and the largest negative one without its sign, both from 0 on.
to_bytes: w[0] is the scale, w[2] its inverse; out the bytes. Where the product with the inverse
is too near to the middle between two integers, a division bit by bit gives the float32 quotient.
"""

import micropython

COMMON = True


@micropython.viper
def ends(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    high = 0
    low = 0
    i = p[0]
    while i < p[1]:
        v = x[i]
        bits = v & p[2]
        if bits <= p[3]:
            if (v >> 31) & 1:
                if bits > low:
                    low = bits
            elif bits > high:
                high = bits
        i += 1
    k = p[0]
    out[k] = high
    k += 1
    out[k] = low


@micropython.viper
def to_bytes(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    one = 1
    k = 0
    m = (w[k] & 8388607) | (one << 23)
    s = w[2]
    r1 = ((s >> 12) & 2047) | 2048
    r0 = s & 4095
    base = 276 - ((s >> 23) & 255)
    i = p[0]
    while i < p[1]:
        v = x[i]
        bits = v & p[2]
        e = bits >> 23
        d = base - e
        if e == 0 or bits > p[3] or d > 26:
            q = 0
        elif d < 15:
            q = 256
        else:
            a = ((v >> 12) & 2047) | 2048
            b = v & 4095
            q = a * r1 + ((a * r0 + b * r1 + ((b * r0) >> 12)) >> 12)
            rest = (q & ((one << d) - 1)) - (one << (d - 1))
            if rest < 8 and 0 - rest < 8:
                a = (v & 8388607) | (one << 23)
                d = ((w[k] >> 23) & 255) - e + 23
                if a < m:
                    a = a << 1
                    d += 1
                q = 0
                n = 25
                while n:
                    q = q << 1
                    if a >= m:
                        a -= m
                        q += 1
                    a = a << 1
                    n -= 1
                b = q >> 1
                if q & 1 and (a != 0 or b & 1):
                    b += 1
                q = b
            q = (q + (one << (d - 1)) - 1 + ((q >> d) & 1)) >> d
        if (v >> 31) & 1:
            q = 0 - q
        q += p[4]
        if q < 0:
            q = 0
        if q > 255:
            q = 255
        out[i] = q
        i += 1
