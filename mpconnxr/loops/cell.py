"""The cell of an LSTM in integers. Written once, in the common subset of Python and viper.

Gates are fixed-point numbers of 26 bits behind the point, states float32. Absolute errors are
about 2**-25, where a state exceeds 64 a last bit of it.

squash   out[p[2] + k] = sigmoid(x[p[0] + k]), or tanh from k = p[3] on, of p[1] floats
state    c = f * c + i * g: x holds i, o, f, g from p[0] on, p[1] each; c is out from p[2] on
product  h = o * t: x holds o from p[0] on, p[1] of them, w holds t; h is out from p[2] on

exp(-|v|) = 2**-k * exp(r), r = k * ln(2) - |v| from 0 to ln(2), by its series; sigmoid and tanh
are quotients of it, bit by bit.
"""

from ._cells import gate_product, gate_to_float, new_state
from ._words import quotient, signed


def squash(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[p[2] : p[2] + p[1]]
    """
    ln2 = 23258160  # of 25 bits behind the point, as the argument
    one = 1 << 27
    for i in range(p[1]):
        v = x[p[0] + i]
        e = ((v >> 23) & 255) - 125
        if i >= p[3]:
            e += 1
        m = (v & 8388607) | 8388608
        if e < 0:
            m = (m + (1 << (0 - 1 - e))) >> (0 - e) if e > 0 - 25 else 0
        a, b = one, 28
        if e < 7:
            m = m << e if e > 0 else m
            b, m = m // ln2 + 1, (ln2 - m % ln2) << 2
            b = min(b, 28)
            for n in range(10, 0, -1):
                e = (a & 16383) * (m >> 14) + (((a & 16383) * (m & 16383)) >> 14)
                e = (e + (a >> 14) * (m & 16383)) >> 13
                a = one + (((a >> 14) * (m >> 14) << 1) + e) // n
        a = a >> b
        b = one + a
        if i >= p[3]:
            a = one - a
        elif (v >> 31) & 1 == 0:
            a = one
        m, n = 0, 28
        m, a, n = quotient(m, a, b, n)
        m = signed((m + 1) >> 1, i >= p[3] and (v >> 31) & 1)
        out[p[2] + i] = m


def state(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + 4 * p[1]]
        updates out[p[2] : p[2] + p[1]]
    """
    n = p[1]
    for i in range(n):
        at = p[0] + i
        a, b, f, v = x[at], x[at + 3 * n], x[at + 2 * n], out[p[2] + i]
        m, sign, a, b, e, s = new_state(v, a, b, f, p[3])
        if sign & 1:
            m = m - p[3] - 1
        out[p[2] + i] = m


def product(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1]]
        reads w[0 : p[1]]
        writes out[p[2] : p[2] + p[1]]
    """
    for i in range(p[1]):
        a, b = x[p[0] + i], w[i]
        sign = (b >> 31) & 1
        if sign:
            b = ((b ^ p[3]) & p[3]) + 1
        m = gate_product(a, b)
        m, e = gate_to_float(m)
        if sign:
            m = m - p[3] - 1
        out[p[2] + i] = m
