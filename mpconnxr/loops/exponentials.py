"""Softmax of a line of float32 on the bits.

The three loops are called in this order for a line and pass values on in p. x and out hold words.

The integers have 22 fraction bits, fewer if the relevant inputs, those down to 104 below the
largest, need more than 7 integer bits. exp(-d) = 2**-k * 2**(-i / 32) * exp(-u) with u < ln(2) /
32, where exp(-u) is 1 - u + u**2 / 2 - u**3 / 6. Denormal results are 0.
"""

from ._floats import halve, normalize
from ._words import all_but_sign, nan_bits, set_at

# Parameters of heights, exponentials, shares
_START = 0  # first element of the line [elements] 0..
_END = 1  # end, exclusive [elements] 1..
_STRIDE = const(2)  # from element to element of the line [elements] 1..
_LARGEST = const(3)  # largest integer of heights; 0: the sum is not finite [value] 0..2**30
_SHIFT = const(4)  # fraction bits that heights drops of 22 [bits] 0..123

# Parameters of exponentials, shares
_SUM_HIGH = const(5)  # of the exponentials, in units of 2**-15 [value] 0..2**30
_SUM_LOW = const(6)  # of the exponentials, in units of 2**-30 [value] 0..32767


def heights(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Convert floats to integers of 29 bits and the sign, + 2**29. Set largest and shift.

    largest becomes 0 if the line has NaN, or if its largest float is infinite.

    Access:
        last = start + (end - 1 - start) // stride * stride
        reads x[start : last + 1]
        writes out[start : last + 1]
        writes p[3 : 5]
    """
    mask = all_but_sign()
    infinity = mask - 0x7FFFFF
    most = 0 - infinity  # magnitude bits, negated if the float is negative
    nan = 0
    for i in range(p[_START], p[_END], p[_STRIDE]):
        v = x[i] & mask
        if v > infinity:
            nan = 1
        if (x[i] >> 31) & 1:
            v = 0 - v
        most = max(v, most)
    v = most if most > 0 else 0 - most
    if v == infinity:
        nan = 1
    s = v >> 23  # exponent of the largest; if negative, of the relevant inputs
    if most < 0 and s > 130:
        s = s + 1 if s > 133 else 134
    point = 22
    if s > 133:
        point -= s - 133
    most = 0
    for i in range(p[_START], p[_END], p[_STRIDE]):
        v = x[i]
        s = 150 - point - ((v >> 23) & 255)
        m = (v & 0x7FFFFF) | 0x800000
        if s > 0:
            m = (m + (1 << (s - 1))) >> s if s < 26 else 0
        else:
            m = m << (0 - s) if s > 0 - 6 else 1 << 29
        if (v >> 31) & 1:
            m = 0 - m
        m += 1 << 29
        out[i] = m
        most = max(m, most)
    i = set_at(p, _LARGEST, 0 if nan else most)
    i = set_at(p, _SHIFT, 22 - point)


def exponentials(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write exp((x[i] - largest) * 2**(shift - 22)) as float32, x from heights; set the sum.

    w holds 2**(30 - i / 32) for i from 0 to 31.

    Access:
        last = start + (end - 1 - start) // stride * stride
        reads x[start : last + 1]
        reads w[0 : 32]
        writes out[start : last + 1]
        writes p[5 : 7]
        given 0 <= x[start : last + 1] <= largest
        given 1 << 29 <= w[0 : 32] <= 1 << 30
    """
    high = middle = low = 0
    for i in range(p[_START], p[_END], p[_STRIDE]):
        v = max(p[_LARGEST] - x[i], 0)
        s = min(p[_SHIFT], 29)
        r = 0
        if v >> (29 - s) == 0:
            v = v << s
            a = v >> 15
            v = v & 32767
            v = a * 23637 * 2 + ((v * 23637 + a * 3786 + (v * 3786 >> 15)) >> 14)
            k, r = v >> 22, w[(v >> 17) & 31]
            v = v & 0x1FFFF
            v = (v * 11356 + (v >> 1)) >> 14
            a = (v >> 2) * (v >> 2)
            v = (v << 2) - (a >> 17) + (((a >> 15) * (v >> 2) >> 21) * 43 >> 8)
            a = (r >> 15) * (v >> 5) + ((r & 32767) * (v >> 5) >> 15)
            r -= (a >> 4) + ((r >> 15) * (v & 31) >> 9)
            if k < 15:
                low += (r & ((1 << k) - 1)) << (15 - k)
            elif k < 46:
                low += (r >> (k - 15)) & 32767
            a = r >> k if k < 31 else 0
            middle += a & 32767
            high += a >> 15
            if r >> 30:
                r = 1 << 29
                k -= 1
            r = ((r + 32) >> 6) + ((125 - k) << 23) if k < 126 else 0
        out[i] = r
    middle += low >> 15
    i = set_at(p, _SUM_HIGH, high + (middle >> 15))
    i = set_at(p, _SUM_LOW, middle & 32767)


def shares(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write each float divided by the sum, or NaN if largest is 0.

    Access:
        last = start + (end - 1 - start) // stride * stride
        reads x[start : last + 1]
        writes out[start : last + 1]
        given 0 <= x[start : last + 1] < 1 << 30
        given 1 << 15 <= sum_high < 1 << 30
    """
    nan = nan_bits()
    shift = 0
    while p[_SUM_HIGH] >> shift > 32767:
        shift += 1
    total = (p[_SUM_HIGH] << (15 - shift)) | (p[_SUM_LOW] >> shift)
    rest, q = 1 << 29, 0
    for n in range(30, 0, -1):
        rest, q = rest << 1, q << 1
        if rest >= total:
            rest -= total
            q += 1
    a, b = q >> 15, q & 32767
    for i in range(p[_START], p[_END], p[_STRIDE]):
        v = x[i]
        e = (v >> 23) + 1 - shift
        r = 0 if p[_LARGEST] else nan
        if e > 1 and p[_LARGEST]:
            v = (v & 0x7FFFFF) | 0x800000
            q, v = v & 511, v >> 9
            r = ((a * q << 6) + (b * q >> 9) + b * v >> 15) + a * v
            r, e = halve(r, e, 30)
            r, e = normalize(r, e, 29)
            r = ((r + 32) >> 6) + ((e - 1) << 23) if e > 0 else 0
        out[i] = r
