"""Square roots of float32 on the bits: see loops/root. Viper form.

The root of m * 2**(25 or 26), m being the mantissa, has 25 bits, of which the last one rounds. It
is computed bit by bit.
"""

from .._floats import significand
from .._viper import ptr32


def sqrt32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    i = p[_START]
    infinity = 1
    infinity = (infinity << 31) - 1 - 0x7FFFFF
    while i < p[_END]:
        v = x[i]
        e, m = (v >> 23) & 255, v & 0x7FFFFF
        if e == 0 and m == 0:
            m = v
        elif (v >> 31) & 1 or e == 255 and m:
            m = infinity | 0x400000
        elif e == 255:
            m = infinity
        else:
            m, e = significand(m, e)
            v, rest, root = 26 - (e & 1), 0, 0
            n = 48
            while n >= 0:
                rest = rest << 2
                if n >= v:
                    rest += (m >> (n - v)) & 3
                elif n == v - 1:
                    rest += (m << 1) & 3
                root = root << 1
                if rest > root + root:
                    rest -= root + root + 1
                    root += 1
                n -= 2
            m = ((root + 1) >> 1) + (((e + 152 - v) >> 1) - 1 << 23)
        out[i] = m
        i += 1
