"""The cell of an LSTM in integers. Written once, in the common subset of Python and viper.

Gates are fixed-point numbers of 26 bits behind the point, states float32. Absolute errors are
about 2**-25, where a state exceeds 64 a last bit of it.

squash   out[p[2] + k] = sigmoid(x[p[0] + k]), or tanh from k = p[3] on, of p[1] floats
state    c = f * c + i * g: x holds i, o, f, g from p[0] on, p[1] each; c is out from p[2] on
product  h = o * t: x holds o from p[0] on, p[1] of them, w holds t; h is out from p[2] on

exp(-|v|) = 2**-k * exp(r), r = k * ln(2) - |v| from 0 to ln(2), by its series; sigmoid and tanh
are quotients of it, bit by bit.

Made from tools/loops/common/cell.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def squash(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[p[2] : p[2] + p[1]]
    """
    ln2 = 23258160  # of 25 bits behind the point, as the argument
    one = 1 << 27
    i = 0
    while i < p[1]:
        v = x[p[0] + i]
        e = ((v >> 23) & 255) - 125
        if i >= p[3]:
            e += 1
        m = (v & 8388607) | 8388608
        if e < 0:
            m = (m + (1 << (0 - 1 - e))) >> (0 - e) if e > 0 - 25 else 0
        a = one
        b = 28
        if e < 7:
            m = m << e if e > 0 else m
            b = m // ln2 + 1
            m = (ln2 - m % ln2) << 2
            if b > 28:
                b = 28
            n = 10
            while n:
                e = (a & 16383) * (m >> 14) + (((a & 16383) * (m & 16383)) >> 14)
                e = (e + (a >> 14) * (m & 16383)) >> 13
                a = one + (((a >> 14) * (m >> 14) << 1) + e) // n
                n -= 1
        a = a >> b
        b = one + a
        if i >= p[3]:
            a = one - a
        elif (v >> 31) & 1 == 0:
            a = one
        m = 0
        n = 28
        while n:
            m = m << 1
            if a >= b:
                a -= b
                m += 1
            a = a << 1
            n -= 1
        m = ((m + 1) >> 1)
        if (i >= p[3] and (v >> 31) & 1):
            m = 0 - m
        out[p[2] + i] = m
        i += 1


@micropython.viper
def state(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + 4 * p[1]]
        updates out[p[2] : p[2] + p[1]]
    """
    n = p[1]
    i = 0
    while i < n:
        at = p[0] + i
        a = x[at]
        b = x[at + 3 * n]
        f = x[at + 2 * n]
        v = out[p[2] + i]
        sign = (v >> 31) & 1
        if (b >> 31) & 1:
            b = (b ^ p[3]) & p[3]
            b += 1
            sign += 2
        e = (a & 8191) * (b >> 13) + (((a & 8191) * (b & 8191)) >> 13)
        b = (a >> 13) * (b >> 13) + ((e + (a >> 13) * (b & 8191)) >> 13)
        a = f
        e = ((v >> 23) & 255) - 126
        m = ((v & 0x7FFFFF) | 0x800000) if e > 0 - 126 else 0
        s = 0
        if e > 6:
            s = e - 6
            e = 6
        if e < 0 - 24:
            m = 0
        elif e < 0:
            m = (m + (1 << (0 - 1 - e))) >> (0 - e)
        else:
            m = m << e
        e = ((m & 32767) * (a >> 13) + (((m & 32767) * (a & 8191)) >> 13)) >> 2
        m = ((m >> 15) * (a >> 13) << 2) + ((e + (m >> 15) * (a & 8191)) >> 11)
        b = (b + (2 << s)) >> (2 + s) if s < 26 else 0
        if sign == 1 or sign == 2:
            m -= b
            if (m >> 31) & 1:
                m = 0 - m
                sign ^= 3
        else:
            m += b
        e = 126 + s
        s = 0
        while m >> s >= 1 << 24:
            s += 1
        if s:
            m = (m + (1 << (s - 1))) >> s
            e += s
        while m and m < 1 << 23:
            m = m << 1
            e -= 1
        m += (e << 23) - (1 << 23) if m else 0
        if sign & 1:
            m = m - p[3] - 1
        out[p[2] + i] = m
        i += 1


@micropython.viper
def product(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        reads w[0 : p[1]]
        writes out[p[2] : p[2] + p[1]]
    """
    i = 0
    while i < p[1]:
        a = x[p[0] + i]
        b = w[i]
        sign = (b >> 31) & 1
        if sign:
            b = ((b ^ p[3]) & p[3]) + 1
        m = (a & 8191) * (b >> 13) + (((a & 8191) * (b & 8191)) >> 13)
        m = (a >> 13) * (b >> 13) + ((m + (a >> 13) * (b & 8191)) >> 13)
        e = 124
        while m >= 1 << 24:
            m = (m + 1) >> 1
            e += 1
        while m and m < 1 << 23:
            m = m << 1
            e -= 1
        m += (e << 23) - (1 << 23) if m else 0
        if sign:
            m = m - p[3] - 1
        out[p[2] + i] = m
        i += 1
