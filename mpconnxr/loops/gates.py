"""Sigmoid and tanh of float32 without a table, on the bits.

x and out hold float32 as words and may share memory. w is not read. Results are within 5e-7 of the
exact value, denormal ones within one more unit in the last place. NaN gives 0x7FC00000.

exp(-u) = 2**-k * exp(r), with r = k * ln(2) - u from 0 to ln(2), by its Taylor series. Both
functions are quotients, computed bit by bit: 1 or exp(-|x|) by 1 + exp(-|x|), and 1 - exp(-2 |x|)
by 1 + exp(-2 |x|). Below 1/16, tanh is x * (1 - x**2 / 3 + 2 * x**4 / 15).
"""

from ._cells import small_tanh
from ._floats import halve, normalize
from ._words import bit, nan_bits, quotient

# Parameters of gate32
_X_START = 0  # [elements] 0..
_ELEMENTS = 1  # [elements] 0..
_OUT_START = 2  # [elements] 0..
_IS_TANH = 3  # tanh, not sigmoid [flag] 0, 1


def gate32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute sigmoid or tanh of each element.

    Access:
        reads x[x_start : x_start + elements]
        writes out[out_start : out_start + elements]
    """
    one = 1 << 27
    top = bit(31)
    nan = nan_bits()
    ln2 = 5814540  # 23 fraction bits; 0.0185 units too large
    for i in range(p[_ELEMENTS]):
        v = x[p[_X_START] + i]
        e = (v >> 23) & 255
        m = (v & 0x7FFFFF) | 0x800000
        sign = (v >> 31) & 1
        if e == 255 and m & 0x7FFFFF:
            m, sign = nan, 0
        elif p[_IS_TANH] and e < 115:
            m = v & (top - 1)
        elif p[_IS_TANH] and e < 123:
            m, e, a = small_tanh(m, e)
        else:
            e += p[_IS_TANH] - 127
            s = 3 if e < 4 else 0  # more bits, as far as they fit
            e += s
            if e < 0:
                m = (m + (1 << (0 - 1 - e))) >> (0 - e) if e > 0 - 24 else 0
            elif e < 7:
                m = m << e
            else:
                m = nan >> 1
            b = m // (ln2 << s) + 1
            m = max(((b * (ln2 << s) - m) << (4 - s)) - (b * 19 >> 6), 0)
            a = one
            for n in range(10, 0, -1):
                e = (a & 16383) * (m >> 14) + (((a & 16383) * (m & 16383)) >> 14)
                e = (e + (a >> 14) * (m & 16383)) >> 13
                a = one + (((a >> 14) * (m >> 14) << 1) + e) // n
            m = a >> b if b < 28 else 0
            e = 127
            if p[_IS_TANH]:
                a = one - m
            elif sign:
                e -= b
            else:
                a = one
            b, m, n = one + m, 0, 30
            m, a, n = quotient(m, a, b, n)
            m, e = normalize(m, e, 29)
            m, e = halve(m, e, 30)
            b = 6
            if e < 1:
                b = 7 - e
                if b > 30:
                    b, m = 6, 0
                e = 1
            m = ((m + (1 << (b - 1))) >> b) + ((e - 1) << 23)
            if p[_IS_TANH] == 0:
                sign = 0
        if sign:
            m -= top
        out[p[_OUT_START] + i] = m
