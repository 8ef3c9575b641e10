"""The cell of an LSTM in integers.

Gates are fixed-point numbers with 26 fraction bits, states are float32. Gates are within 2**-25 of
the exact functions, h within 2**-24 of the product of its gates. A new state is within 2**-23 of
what its gates and the old one give, or within 1/16 of the last bit of an old one above 64, besides
its own rounding to float32.

exp(-|v|) = 2**-k * exp(r), r = k * ln(2) - |v| from 0 to ln(2), by its Taylor series. Sigmoid and
tanh are quotients of it, computed bit by bit.
"""

from ._cells import gate_product, gate_to_float, new_state
from ._words import quotient, signed

# Parameters of squash, state, product
_X_START = const(0)  # [elements] 0..
_ELEMENTS = const(1)  # of each gate; of all gates for squash [elements] 1..
_OUT_START = const(2)  # [elements] 0..

# Parameters of squash
_TANH_START = const(3)  # elements before those of tanh [elements] 0..

# Parameters of state, product
_MASK = const(3)  # all bits of a float32 except the sign [mask] 2**31 - 1


def squash(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write sigmoid of floats, or tanh from element tanh_start on, counted from x_start.

    Access:
        reads x[x_start : x_start + elements]
        writes out[out_start : out_start + elements]
    """
    ln2 = 23258160  # 25 fraction bits, as the argument has
    one = 1 << 27
    for i in range(p[_ELEMENTS]):
        v = x[p[_X_START] + i]
        e = ((v >> 23) & 255) - 125
        if i >= p[_TANH_START]:
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
        if i >= p[_TANH_START]:
            a = one - a
        elif (v >> 31) & 1 == 0:
            a = one
        m, n = 0, 28
        m, a, n = quotient(m, a, b, n)
        m = signed((m + 1) >> 1, i >= p[_TANH_START] and (v >> 31) & 1)
        out[p[_OUT_START] + i] = m


def state(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write the new states c = f * c + i * g; x holds i, o, f and g, contiguous.

    Access:
        reads x[x_start : x_start + 4 * elements]
        updates out[out_start : out_start + elements]
        given 0 <= x[x_start : x_start + 3 * elements] <= 1 << 26
        given 0 - (1 << 26) <= x[x_start + 3 * elements : x_start + 4 * elements] <= 1 << 26
    """
    n = p[_ELEMENTS]
    for i in range(n):
        at = p[_X_START] + i
        a, b, f, v = x[at], x[at + 3 * n], x[at + 2 * n], out[p[_OUT_START] + i]
        m, sign, a, b, e, s = new_state(v, a, b, f, p[_MASK])
        if sign & 1:
            m = m - p[_MASK] - 1
        out[p[_OUT_START] + i] = m


def product(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write h = o * t; x holds o, w holds t.

    Access:
        reads x[x_start : x_start + elements]
        reads w[0 : elements]
        writes out[out_start : out_start + elements]
        given 0 <= x[x_start : x_start + elements] <= 1 << 26
        given 0 - (1 << 26) <= w[0 : elements] <= 1 << 26
    """
    for i in range(p[_ELEMENTS]):
        a, b = x[p[_X_START] + i], w[i]
        sign = (b >> 31) & 1
        if sign:
            b = ((b ^ p[_MASK]) & p[_MASK]) + 1
        m = gate_product(a, b)
        m, e = gate_to_float(m)
        if sign:
            m = m - p[_MASK] - 1
        out[p[_OUT_START] + i] = m
