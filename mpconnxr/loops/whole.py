"""Abs, Neg, Sign, Floor, Ceil and Round of float32, exact, on the bits.

x and out hold float32 as words and may share memory. w is not read. NaN is 0x7FC00000. A result of
zero keeps the sign of x; the sign of -0 is 0.
"""

from ._words import bit

# Parameters of whole32
_START = const(0)  # first element [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..
_FUNCTION = const(2)  # 0 abs, 1 neg, 2 sign, 3 floor, 4 ceil, 5 round (half to even) [code] 0..5


def whole32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the function of each element.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    top = bit(31)
    infinity = top - 1 - 0x7FFFFF
    for i in range(p[_START], p[_END]):
        m = x[i]
        sign, m = (m >> 31) & 1, m & (top - 1)
        e, function = m >> 23, p[_FUNCTION]
        if m > infinity:
            m, sign = infinity | 0x400000, 0
        elif function == 0:
            sign = 0
        elif function == 1:
            sign ^= 1
        elif function == 2:
            if m:
                m = 127 << 23
            else:
                sign = 0
        elif e < 150:
            shift = 150 - e
            if shift > 23:  # below 1
                rest = 1 if m else 0
                if function == 5:
                    rest = 1 if e == 126 and m & 0x7FFFFF else 0
                elif sign != 4 - function:
                    rest = 0
                m = (127 << 23) * rest
            else:
                half = 1 << shift >> 1
                rest = m & (half + half - 1)
                m -= rest
                if function == 5:
                    if rest == half and (shift == 23 or (m >> shift) & 1):
                        rest += 1
                    rest = 1 if rest > half else 0
                elif sign != 4 - function:
                    rest = 0
                if rest:
                    m += half + half
        if sign:
            m -= top
        out[i] = m
