"""Range of floats and their quantization to bytes, on the bits.

ends      Write the largest float and the magnitude of the most negative one.
choose    Write the scale, the zero point (an int) and the inverse scale; write the zero point also
          to byte 0 of w. x is the result of ends. Denormal results are 0; the scale is then 1.
to_bytes  Write the bytes of x; w is the result of choose. If the product with the inverse is too
          near to a tie, a bitwise division gives the float32 quotient.

x holds float32 as words. NaN is ignored.
"""

from ._floats import halve
from ._words import quotient, set_at

# Parameters of ends, choose, to_bytes
_X_START = 0  # first element; of choose, the first end [elements] 0..
_X_END = 1  # [elements] 0..
_MASK = const(2)  # all bits of a float32 except the sign [mask] 2**31 - 1
_INFINITY = const(3)  # [float bits] 2139095040

# Parameters of choose, to_bytes
_OUT_START = 4  # [elements] 0..


def ends(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the range of x.

    Access:
        reads x[x_start : x_end]
        writes out[x_start : x_start + 2]
    """
    high = low = 0
    for i in range(p[_X_START], p[_X_END]):
        v = x[i]
        bits = v & p[_MASK]
        if bits <= p[_INFINITY]:
            if (v >> 31) & 1:
                low = max(bits, low)
            elif bits > high:
                high = bits
    k = p[_X_START]
    out[k] = high
    k += 1
    out[k] = low


def choose(x: ptr32, w: ptr8, out: ptr32, p: ptr32):
    """Choose scale and zero point.

    Access:
        reads x[x_start : x_start + 2]
        writes w[0:1]
        writes out[out_start : out_start + 3]
        given 0 <= x[x_start : x_start + 2] <= 255 << 23
    """
    k = p[_X_START]
    a = x[k]
    k += 1
    b = x[k]
    if a < b:
        a, b = b, x[k - 1]
    exponent = a >> 23
    d = exponent - (b >> 23)
    a = ((a & 8388607) | 8388608) << 3 if exponent else 0
    b = ((b & 8388607) | 8388608) << 3 if b >> 23 else 0
    d = min(d, 27)
    a += (b >> d) | (1 if (b >> d) << d != b else 0)
    if a >> 27:
        a = (a >> 1) | (a & 1)
        exponent += 1
    a = (a + 3 + ((a >> 3) & 1)) >> 3
    n, d, at = 255 << 16, 134, p[_OUT_START]
    k = 0
    while k < 3:
        a, exponent = halve(a, exponent, 24)
        if a < n:
            a = a << 1
            exponent -= 1
        exponent += 127 - d
        b, q = 25, 0
        q, a, b = quotient(q, a, n, b)
        q = (q >> 1) + (1 if q & 1 and (a or q & 2) else 0)
        if exponent < 1:
            q = 0
        elif exponent > 254:
            q = p[_INFINITY]
        else:
            q += (exponent << 23) - 8388608
        if k == 0:
            if q == 0:
                q = 127 << 23
            out[at] = q
            n, d, k = (q & 8388607) | 8388608, q >> 23, p[_X_START] + 1
            a = x[k]
            exponent = a >> 23
            a = (a & 8388607) | 8388608 if exponent else 0
            k = 0
        elif k == 1:
            exponent = 150 - (q >> 23)
            if exponent > 25 or exponent < 1:
                q = 0
            else:
                q = (q & 8388607) | 8388608
                q = (q + (1 << (exponent - 1)) - 1 + ((q >> exponent) & 1)) >> exponent
            q = min(q, 255)
            out[at + 1] = q
            exponent = set_at(w, 0, q)
            a, exponent = 8388608, 127
        else:
            out[at + 2] = q
        k += 1


def to_bytes(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """Quantize x.

    Access:
        reads x[x_start : x_end]
        reads w[0 : 3]
        writes out[out_start : out_start + x_end - x_start]
    """
    one, k = 1, 0
    scale = (w[k] & 8388607) | (one << 23)
    inverse = w[2]
    inverse_high = ((inverse >> 12) & 2047) | 2048
    inverse_low, base, i = inverse & 4095, 276 - ((inverse >> 23) & 255), p[_X_START]
    at, zero = p[_OUT_START] - i, w[1]
    while i < p[_X_END]:
        v = x[i]
        bits = v & p[_MASK]
        exponent = bits >> 23
        shift = base - exponent
        if exponent == 0 or bits > p[_INFINITY] or shift > 26:
            q = 0
        elif shift < 15:
            q = 256
        else:
            high = ((v >> 12) & 2047) | 2048
            low = v & 4095
            q = high * inverse_high + (
                (high * inverse_low + low * inverse_high + ((low * inverse_low) >> 12)) >> 12
            )
            rest = (q & ((one << shift) - 1)) - (one << (shift - 1))
            if rest < 8 and 0 - rest < 8:
                high = (v & 8388607) | (one << 23)
                shift = ((w[k] >> 23) & 255) - exponent + 23
                if high < scale:
                    high = high << 1
                    shift += 1
                q, n = 0, 25
                q, high, n = quotient(q, high, scale, n)
                low = q >> 1
                if q & 1 and (high != 0 or low & 1):
                    low += 1
                q = low
            q = (q + (one << (shift - 1)) - 1 + ((q >> shift) & 1)) >> shift
        if (v >> 31) & 1:
            q = 0 - q
        q += zero
        q = min(max(q, 0), 255)
        out[at + i] = q
        i += 1
