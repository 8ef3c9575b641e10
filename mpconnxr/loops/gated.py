"""Steps of recurrent layers in fixed point. Written once, for Python and viper.

The weights of a gate for one item of the state are a row:

    lower 24 bits of the bias, and above them the exponent of its weights for x
    the other bits of the bias, plus 2**29
    mantissas for x, 24 bits with the sign
    where it has weights for h: their exponent, their mantissas

Biases and sums have 28 bits behind the point. Sums are two words, the first one of 24 bits. A
bias, and what up to 120 products add up to, is at most 2**26 in the second one. What a gate is
computed of, its argument, has 26 bits behind the point in one word, as gates have. States are
float32.

A row of x or of h is its exponent E, then mantissas of 2**(E - 149). w of cells is a table for
sigmoid: see tools/converter/numbers/gate_table.py.

Absolute errors of gates are below 2**-25; where a state exceeds 64, it has a last bit of its own.
"""

from ._cells import (
    argument,
    gate,
    gate_product,
    gate_to_float,
    new_state,
    small_tanh,
    squash,
)
from ._floats import first_bit, largest_bits, unpack
from ._hints import far, inline, undefined
from ._words import all_but_sign


@inline
def mantissa(word):
    """Return a mantissa with its sign, of a word that may have been read without it."""
    v = ((word + 0x800000) & 0xFFFFFF) - 0x800000
    return v


@inline
def products(x, first, w, at, n):
    """Return high and low: high * 2**24 + low = the exact sum of n products of x and w, up to 120.

    first, at: places of the first items in x and w; at: of the next one then. The others: room.
    """
    u = v = s = undefined
    a, low, middle, high = first, 0, 0, 0
    b = at + n
    while at < b:
        u = mantissa(x[a])
        v = mantissa(w[at])
        s = (u & 4095) * (v & 4095)
        low += s & 4095
        middle += (u & 4095) * (v >> 12) + (u >> 12) * (v & 4095) + (s >> 12)
        high += (u >> 12) * (v >> 12)
        a += 1
        at += 1
    middle += low >> 12
    low = (low & 4095) | (middle & 4095) << 12
    high += middle >> 12
    return high, low, at, middle, a, b, u, v, s


@inline
def add_products(c0, c1, e, x, first, w, at, n):
    """Return c0 and c1: c1 * 2**24 + c0 plus a sum of products, shifted to the right by e.

    x to n: of products. at: the next place. e and the others: room.
    """
    high, low, at, middle, a, b, u, v, s = products(x, first, w, at, n)
    if e >= 24:
        e -= 24
        high = high >> (e if e < 31 else 31)
        low = high & 0xFFFFFF
        high = high >> 24
    else:
        if e > 0:
            low = (low >> e) | (high & ((1 << e) - 1)) << (24 - e)
            high = high >> e
        s = 1 << 26
        while e < 0 and high <= s and high >= 0 - s:
            high = high + high + (low >> 23)
            low = (low << 1) & 0xFFFFFF
            e += 1
        if high > s or high < 0 - s:
            low = 0
            high = s if high > 0 else 0 - s
    c0 += low
    c1 += high
    return c0, c1, e, at, high, low, middle, a, b, u, v, s


@inline
def normalized(e, high, low):
    """Return m and e: m * 2**e = (high * 2**24 + low) * 2**e, where m gets 28 bits and a sign.

    high, low, s: room.
    """
    s = 0
    if high < 0:
        low, s = 0 - low, 1
        high = (low >> 24) - high
        low = low & 0xFFFFFF
    while high >= 16:
        low = (low >> 1) | (high & 1) << 23
        high = high >> 1
        e += 1
    m = (high << 24) | low
    if m == 0:
        e = 0 - 999
    while m and m < 1 << 27:
        m = m << 1
        e -= 1
    if s:
        m = 0 - m
    return m, e, high, low, s


@inline
def aligned(m, e, most):
    """Return m, shifted from 2**e to 2**most, and by how much."""
    e = most - e
    m = m >> (e if e < 31 else 31)
    return m, e


def row(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """A row of mantissas, of floats.

    p    first of x, items, first of out, items of x behind these that must be finite, too
    out  instead of E 255, and nothing behind it, if one of x is inf or nan

    Access:
        reads x[p[0] : p[0] + p[1] + p[3]]
        writes out[p[2] : p[2] + 1 + p[1]]
    """
    i = p[0]
    end, most = i + p[1], 0
    mask = all_but_sign()
    most, i, v = largest_bits(most, x, i, end, mask)
    block = most >> 23
    end += p[3]
    most, i, v = largest_bits(most, x, i, end, mask)
    at = p[2]
    if most >> 23 == 255:
        out[at] = 255
        end = 0
    else:
        block = max(block, 1)
        out[at] = block
        i = p[0]
        end = i + p[1]
    while i < end:
        v = x[i]
        m, e = unpack(v)
        m, e = first_bit(m, e)
        e = block - e
        m = 0 if e > 23 else (m + (1 << e)) >> (e + 1)
        if m == 0x800000:
            m -= 1
        if (v >> 31) & 1:
            m = 0 - m
        at += 1
        out[at] = m
        i += 1


def sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Sums of rows of w with a row of x and one of h, both in x.

    p    the row of x, its items or 0, that of h, its items or 0, first of w, rows, first of out,
         1: arguments, 0: sums, whose second word gets 2**30 more

    Access:
        n = p[5] * (1 + (p[7] + 1) % 2)
        reads x[p[0] : p[0] + 1 + p[1]] if p[5]
        reads x[p[2] : p[2] + 1 + p[3]] if p[5]
        reads w[p[4] : p[4] + p[5] * (2 + p[1] + (p[3] + 1 if p[3] else 0))]
        writes out[p[6] : p[6] + n]
    """
    mask = all_but_sign()
    i, at = p[4], p[6]
    for rows in far(range(p[5], 0, -1)):
        c0, c1 = w[i] & 0xFFFFFF, (w[i + 1] & 0x3FFFFFFF) - (1 << 29)
        unit = 270 - ((w[i] >> 24) & 255)
        i += 2
        first, n = p[0], p[1]
        for part in far(range(2, 0, -1)):
            if part == 1:
                first, n = p[2], p[3]
                if n:
                    unit = 270 - (w[i] & 255)
                    i += 1
            unit -= x[first]
            first += 1
            while far(n != 0):
                e, k = unit, (n - 1) % 120 + 1
                c0, c1, e, i, high, low, middle, a, b, u, v, s = add_products(
                    c0, c1, e, x, first, w, i, k
                )
                first += k
                n -= k
        c1 += c0 >> 24
        c0 = c0 & 0xFFFFFF
        if p[7]:
            c0 = argument(c0, c1, mask)
            out[at] = c0
        else:
            out[at] = c0
            at += 1
            out[at] = c1 + (1 << 29) + (1 << 29)
        at += 1


def small_sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Floats behind the arguments, of those below 1/16, or of all if p[7] is 0; p: as of sums.

    Behind the rows of w lie the biases as floats. Rows of x and of h have up to 120 items.

    Access:
        reads x[p[0] : p[0] + 1 + p[1]]
        reads x[p[2] : p[2] + 1 + p[3]]
        reads w[p[4] : p[4] + p[5] * (4 + p[1] + p[3])]
        updates out[p[6] : p[6] + 2 * p[5]]
    """
    mask = all_but_sign()
    for k in far(range(p[5])):
        v = 0
        if p[7]:
            v = out[p[6] + k]
            if (v >> 31) & 1:
                v = (0 - v) & mask
        rows = 1 if v < 1 << 22 else 0
        while far(rows != 0):
            rows = 0
            i = p[4] + k * (3 + p[1] + p[3])
            c0, most, e = 0, 0 - 999, (w[i] >> 24) & 255
            i += 2
            e += x[p[0]] - 298
            first, n = p[0] + 1, p[1]
            for part in far(range(3)):
                high, low, i, middle, a, b, u, v, s = products(x, first, w, i, n)
                if part == 2:
                    b = w[p[4] + p[5] * (3 + p[1] + p[3]) + k]
                    low, e = unpack(b)
                    low, e = first_bit(low, e)
                    e -= 150
                    if (b >> 31) & 1:
                        low, high = 0x1000000 - low, 0 - 1
                c1, e, high, low, s = normalized(e, high, low)
                a, most = most, max(e, most)
                c0, a = aligned(c0, a, most)
                c1, e = aligned(c1, e, most)
                c0 += c1
                if part == 0:
                    first, n, e = p[2] + 1, p[3], (w[i] & 255) + x[p[2]] - 298
                    i += 1
                else:
                    n = 0
            s = 0
            if c0 < 0:
                c0, s = 0 - c0, 1
            while c0 >= 1 << 25:
                c0 = c0 >> 1
                most += 1
            if c0 >= 1 << 24:
                c0 = (c0 + 1) >> 1
                most += 1
            while c0 and c0 < 1 << 23:
                c0 = c0 << 1
                most -= 1
            most += 149
            if most < 0:
                c0 = c0 >> (0 - most if most > 0 - 25 else 25)
                most = 0
            if most > 253:
                c0, most = 0x800000, 254
            if c0:
                c0 += most << 23
            if s:
                c0 = c0 - mask - 1
            out[p[6] + p[5] + k] = c0


def lstm(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """States of arguments of i, o, f and g, which become gates.

    p    first argument, n of each, first of h, first of c

    Access:
        n = p[1]
        reads w[0:351]
        updates out[p[0] : p[0] + 4 * n]
        writes out[p[2] : p[2] + n]
        updates out[p[3] : p[3] + n]
    """
    mask = all_but_sign()
    at, n = p[0], p[1]
    for i in far(range(3 * n)):
        v = out[at]
        a, v, sign, b, c, t = gate(v, mask, w)
        out[at] = a
        at += 1
    for i in far(range(n)):
        v = out[at]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        a, v, b, c, t = squash(v, mask, w)
        b, at = a, p[0] + i
        if sign:
            b = 0 - b
        a, f, v = out[at], out[at + 2 * n], out[p[3] + i]
        m, sign, a, b, e, s = new_state(v, a, b, f, mask)
        v = m
        if sign & 1:
            v = m - mask - 1
        out[p[3] + i] = v
        at += 3 * n + 1
    at = p[0]
    for i in far(range(n)):
        m = out[p[3] + i]
        sign = (m >> 31) & 1
        m = m & mask
        v, e = (m & 0x7FFFFF) | 0x800000, (m >> 23) - 124
        if e < 0:
            v = (v + (1 << (0 - 1 - e))) >> (0 - e) if e > 0 - 25 else 0
        else:
            v = v << e if e < 8 else mask
        a, v, b, c, t = squash(v, mask, w)
        b = out[at + n]
        m = gate_product(a, b)
        m, e = gate_to_float(m)
        if sign:
            m = m - mask - 1
        out[p[2] + i] = m
        at += 1


def rnn(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """h = tanh of arguments, or of the floats behind them where they are below 1/16. p: as of lstm

    Access:
        n = p[1]
        reads w[0:351]
        reads out[p[0] : p[0] + 2 * n]
        writes out[p[2] : p[2] + n]
    """
    mask = all_but_sign()
    for i in far(range(p[1])):
        v = out[p[0] + i]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        if v < 1 << 22:
            v = out[p[0] + p[1] + i]
            sign = (v >> 31) & 1
            m, e = unpack(v)
            m = m | 0x800000
            if e > 122:  # rounded up to 1/16
                m, e = 0xFFFFFF, 122
            if e < 115:
                m = v & mask
            else:
                m, e, a = small_tanh(m, e)
        else:
            m, v, b, c, t = squash(v, mask, w)
            m, e = gate_to_float(m)
        if sign:
            m = m - mask - 1
        out[p[2] + i] = m


def relu(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """h = the floats behind arguments, or 0. p: as of lstm

    Access:
        n = p[1]
        reads out[p[0] + n : p[0] + 2 * n]
        writes out[p[2] : p[2] + n]
    """
    for i in range(p[1]):
        v = out[p[0] + p[1] + i]
        if (v >> 31) & 1:
            v = 0
        out[p[2] + i] = v


def reset(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """r * h in the place of h, for gates r of which x holds the arguments.

    p    first argument, n, first mantissa of h

    Access:
        reads x[p[0] : p[0] + p[1]]
        updates out[p[2] : p[2] + p[1]]
        reads w[0:351]
    """
    mask = all_but_sign()
    for i in far(range(p[1])):
        v = x[p[0] + i]
        a, v, sign, b, c, t = gate(v, mask, w)
        v = out[p[2] + i]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        b = (((v >> 12) * (a & 8191)) >> 1) + (v & 4095) * (a >> 13)
        v = ((v >> 12) * (a >> 13) + (b >> 12) + 1) >> 1
        if sign:
            v = 0 - v
        out[p[2] + i] = v


def reset_sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Arguments of new states: sums over x, and those over h times gates r.

    p    first argument of r, n; behind them lie n sums over x, in whose place the results come,
         and n over h

    Access:
        updates out[p[0] : p[0] + 5 * p[1]]
        reads w[0:351]
    """
    mask = all_but_sign()
    n = p[1]
    at = p[0] + n
    for i in far(range(n)):
        v = out[p[0] + i]
        a, v, sign, b, c, t = gate(v, mask, w)
        e = at + 2 * n
        c0, c1, sign = out[e], (out[e + 1] & mask) - (1 << 29) - (1 << 29), 0
        if c1 < 0:
            c0, sign = 0 - c0, 1
            c1 = (c0 >> 24) - c1
            c0 = c0 & 0xFFFFFF
        s = 0
        while c1 >> s >= 16 and s < 31:
            s += 1
        m = c1 >> (s - 24) if s > 24 else (c1 << (24 - s)) | c0 >> s
        c0 = (a & 8191) * (m >> 14)
        c0 += c0 + (a >> 13) * (m & 16383) + (((a & 8191) * (m & 16383)) >> 13)
        m = (a >> 13) * (m >> 14)
        m += m + (c0 >> 13)
        if s > 24:
            c0, c1 = 0, m << (s - 24)
        else:
            c0, c1 = (m & ((1 << (24 - s)) - 1)) << s, m >> (24 - s)
        if sign:
            c0, c1 = 0 - c0, 0 - c1
        c0 += out[at]
        c1 += (out[at + 1] & mask) - (1 << 29) - (1 << 29) + (c0 >> 24)
        c0 = c0 & 0xFFFFFF
        c0 = argument(c0, c1, mask)
        out[p[0] + n + i] = c0
        at += 2


def renew(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """h = z * h + (1 - z) * tanh of an argument. p: first argument of z, n, first of h; those of
    tanh lie behind as many of z, and then of something else.

    Access:
        n = p[1]
        reads w[0:351]
        updates out[p[0] : p[0] + n]
        reads out[p[0] : p[0] + 3 * n]
        updates out[p[2] : p[2] + n]
    """
    mask = all_but_sign()
    for i in far(range(p[1])):
        at = p[0] + i
        v = out[at]
        a, v, sign, b, c, t = gate(v, mask, w)
        out[at] = a
    for i in far(range(p[1])):
        at = p[0] + i
        v = out[at + 2 * p[1]]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        b, v, a, c, t = squash(v, mask, w)
        if sign:
            b = 0 - b
        f, v = out[at], out[p[2] + i]
        a = (1 << 26) - f
        m, sign, a, b, e, s = new_state(v, a, b, f, mask)
        if sign & 1:
            m = m - mask - 1
        out[p[2] + i] = m


def put(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out = x. p: first of x, items, first of out

    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[p[2] : p[2] + p[1]]
    """
    i, at = p[0], p[2]
    end = i + p[1]
    while i < end:
        out[at] = x[i]
        at += 1
        i += 1
