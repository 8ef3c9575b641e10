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

Made from tools/loops/common/gated.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def row(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """A row of mantissas, of floats.

    p    first of x, items, first of out, items of x behind these that must be finite, too
    out  instead of E 255, and nothing behind it, if one of x is inf or nan

    Access:
        reads x[p[0] : p[0] + p[1] + p[3]]
        writes out[p[2] : p[2] + 1 + p[1]]
    """
    i = p[0]
    end = i + p[1]
    most = 0
    mask = 1
    mask = (mask << 31) - 1
    while i < end:
        v = x[i] & mask
        if v > most:
            most = v
        i += 1
    block = most >> 23
    end += p[3]
    while i < end:
        v = x[i] & mask
        if v > most:
            most = v
        i += 1
    at = p[2]
    if most >> 23 == 255:
        out[at] = 255
        end = 0
    else:
        if block < 1:
            block = 1
        out[at] = block
        i = p[0]
        end = i + p[1]
    while i < end:
        v = x[i]
        m = v & 0x7FFFFF
        e = (v >> 23) & 255
        if e:
            m = m | 0x800000
        else:
            e = 1
        e = block - e
        m = 0 if e > 23 else (m + (1 << e)) >> (e + 1)
        if m == 0x800000:
            m -= 1
        if (v >> 31) & 1:
            m = 0 - m
        at += 1
        out[at] = m
        i += 1


@micropython.viper
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
    mask = 1
    mask = (mask << 31) - 1
    i = p[4]
    at = p[6]
    rows = p[5]
    while True:
        if rows == 0:
            break
        c0 = w[i] & 0xFFFFFF
        c1 = (w[i + 1] & 0x3FFFFFFF) - (1 << 29)
        unit = 270 - ((w[i] >> 24) & 255)
        i += 2
        first = p[0]
        n = p[1]
        part = 2
        while True:
            if part == 0:
                break
            if part == 1:
                first = p[2]
                n = p[3]
                if n:
                    unit = 270 - (w[i] & 255)
                    i += 1
            unit -= x[first]
            first += 1
            while True:
                if n == 0:
                    break
                e = unit
                k = (n - 1) % 120 + 1
                a = first
                low = 0
                middle = 0
                high = 0
                b = i + k
                while i < b:
                    u = ((x[a] + 0x800000) & 0xFFFFFF) - 0x800000
                    v = ((w[i] + 0x800000) & 0xFFFFFF) - 0x800000
                    s = (u & 4095) * (v & 4095)
                    low += s & 4095
                    middle += (u & 4095) * (v >> 12) + (u >> 12) * (v & 4095) + (s >> 12)
                    high += (u >> 12) * (v >> 12)
                    a += 1
                    i += 1
                middle += low >> 12
                low = (low & 4095) | (middle & 4095) << 12
                high += middle >> 12
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
                first += k
                n -= k
            part -= 1
        c1 += c0 >> 24
        c0 = c0 & 0xFFFFFF
        if p[7]:
            if c1 > 510 or c1 < 0 - 511:
                c0 = mask if c1 > 0 else 0 - mask
            else:
                c0 = (c1 << 22) + ((c0 + 2) >> 2)
            out[at] = c0
        else:
            out[at] = c0
            at += 1
            out[at] = c1 + (1 << 29) + (1 << 29)
        at += 1
        rows -= 1


@micropython.viper
def small_sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Floats behind the arguments, of those below 1/16, or of all if p[7] is 0; p: as of sums.

    Behind the rows of w lie the biases as floats. Rows of x and of h have up to 120 items.

    Access:
        reads x[p[0] : p[0] + 1 + p[1]]
        reads x[p[2] : p[2] + 1 + p[3]]
        reads w[p[4] : p[4] + p[5] * (4 + p[1] + p[3])]
        updates out[p[6] : p[6] + 2 * p[5]]
    """
    mask = 1
    mask = (mask << 31) - 1
    k = 0
    while True:
        if k >= p[5]:
            break
        v = 0
        if p[7]:
            v = out[p[6] + k]
            if (v >> 31) & 1:
                v = (0 - v) & mask
        rows = 1 if v < 1 << 22 else 0
        while True:
            if rows == 0:
                break
            rows = 0
            i = p[4] + k * (3 + p[1] + p[3])
            c0 = 0
            most = 0 - 999
            e = (w[i] >> 24) & 255
            i += 2
            e += x[p[0]] - 298
            first = p[0] + 1
            n = p[1]
            part = 0
            while True:
                if part >= 3:
                    break
                a = first
                low = 0
                middle = 0
                high = 0
                b = i + n
                while i < b:
                    u = ((x[a] + 0x800000) & 0xFFFFFF) - 0x800000
                    v = ((w[i] + 0x800000) & 0xFFFFFF) - 0x800000
                    s = (u & 4095) * (v & 4095)
                    low += s & 4095
                    middle += (u & 4095) * (v >> 12) + (u >> 12) * (v & 4095) + (s >> 12)
                    high += (u >> 12) * (v >> 12)
                    a += 1
                    i += 1
                middle += low >> 12
                low = (low & 4095) | (middle & 4095) << 12
                high += middle >> 12
                if part == 2:
                    b = w[p[4] + p[5] * (3 + p[1] + p[3]) + k]
                    low = b & 0x7FFFFF
                    e = (b >> 23) & 255
                    if e:
                        low = low | 0x800000
                    else:
                        e = 1
                    e -= 150
                    if (b >> 31) & 1:
                        low = 0x1000000 - low
                        high = 0 - 1
                s = 0
                if high < 0:
                    low = 0 - low
                    s = 1
                    high = (low >> 24) - high
                    low = low & 0xFFFFFF
                while high >= 16:
                    low = (low >> 1) | (high & 1) << 23
                    high = high >> 1
                    e += 1
                c1 = (high << 24) | low
                if c1 == 0:
                    e = 0 - 999
                while c1 and c1 < 1 << 27:
                    c1 = c1 << 1
                    e -= 1
                if s:
                    c1 = 0 - c1
                a = most
                if e > most:
                    most = e
                a = most - a
                c0 = c0 >> (a if a < 31 else 31)
                e = most - e
                c1 = c1 >> (e if e < 31 else 31)
                c0 += c1
                if part == 0:
                    first = p[2] + 1
                    n = p[3]
                    e = (w[i] & 255) + x[p[2]] - 298
                    i += 1
                else:
                    n = 0
                part += 1
            s = 0
            if c0 < 0:
                c0 = 0 - c0
                s = 1
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
                c0 = 0x800000
                most = 254
            if c0:
                c0 += most << 23
            if s:
                c0 = c0 - mask - 1
            out[p[6] + p[5] + k] = c0
        k += 1


@micropython.viper
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
    mask = 1
    mask = (mask << 31) - 1
    at = p[0]
    n = p[1]
    i = 0
    while True:
        if i >= 3 * n:
            break
        v = out[at]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        c = 0
        if v >> 29:
            v = (v - (1 << 29)) >> 2
            c = 96
        elif v >> 28:
            c = 32
        else:
            v = v << 1
        c = c + (v >> 23)
        if c > 116:
            c = 116
        c += c + c
        t = (v >> 11) & 4095
        b = w[c + 2]
        a = (((b & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
        b = (((b >> 16) & 0xFFFF) << 3) - a
        v = v & 2047
        b = w[c + 1] - ((b * t + ((b * v) >> 11)) >> 12)
        a = b >> 12
        b = b & 4095
        a = (w[c] + a * t + ((a * v) >> 11) + ((b * t) >> 12)) & 0x1FFFFFFF
        a = (a + 4) >> 3
        if sign:
            a = (1 << 26) - a
        out[at] = a
        at += 1
        i += 1
    i = 0
    while True:
        if i >= n:
            break
        v = out[at]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        v = mask if v >> 30 else v << 1
        c = 0
        if v >> 29:
            v = (v - (1 << 29)) >> 2
            c = 96
        elif v >> 28:
            c = 32
        else:
            v = v << 1
        c = c + (v >> 23)
        if c > 116:
            c = 116
        c += c + c
        t = (v >> 11) & 4095
        b = w[c + 2]
        a = (((b & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
        b = (((b >> 16) & 0xFFFF) << 3) - a
        v = v & 2047
        b = w[c + 1] - ((b * t + ((b * v) >> 11)) >> 12)
        a = b >> 12
        b = b & 4095
        a = (w[c] + a * t + ((a * v) >> 11) + ((b * t) >> 12)) & 0x1FFFFFFF
        a = ((a - (1 << 28) + 2) >> 2) & 0x7FFFFFF
        b = a
        at = p[0] + i
        if sign:
            b = 0 - b
        a = out[at]
        f = out[at + 2 * n]
        v = out[p[3] + i]
        sign = (v >> 31) & 1
        if (b >> 31) & 1:
            b = (b ^ mask) & mask
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
        v = m
        if sign & 1:
            v = m - mask - 1
        out[p[3] + i] = v
        at += 3 * n + 1
        i += 1
    at = p[0]
    i = 0
    while True:
        if i >= n:
            break
        m = out[p[3] + i]
        sign = (m >> 31) & 1
        m = m & mask
        v = (m & 0x7FFFFF) | 0x800000
        e = (m >> 23) - 124
        if e < 0:
            v = (v + (1 << (0 - 1 - e))) >> (0 - e) if e > 0 - 25 else 0
        else:
            v = v << e if e < 8 else mask
        v = mask if v >> 30 else v << 1
        c = 0
        if v >> 29:
            v = (v - (1 << 29)) >> 2
            c = 96
        elif v >> 28:
            c = 32
        else:
            v = v << 1
        c = c + (v >> 23)
        if c > 116:
            c = 116
        c += c + c
        t = (v >> 11) & 4095
        b = w[c + 2]
        a = (((b & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
        b = (((b >> 16) & 0xFFFF) << 3) - a
        v = v & 2047
        b = w[c + 1] - ((b * t + ((b * v) >> 11)) >> 12)
        a = b >> 12
        b = b & 4095
        a = (w[c] + a * t + ((a * v) >> 11) + ((b * t) >> 12)) & 0x1FFFFFFF
        a = ((a - (1 << 28) + 2) >> 2) & 0x7FFFFFF
        b = out[at + n]
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
            m = m - mask - 1
        out[p[2] + i] = m
        at += 1
        i += 1


@micropython.viper
def rnn(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """h = tanh of arguments, or of the floats behind them where they are below 1/16. p: as of lstm

    Access:
        n = p[1]
        reads w[0:351]
        reads out[p[0] : p[0] + 2 * n]
        writes out[p[2] : p[2] + n]
    """
    mask = 1
    mask = (mask << 31) - 1
    i = 0
    while True:
        if i >= p[1]:
            break
        v = out[p[0] + i]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        if v < 1 << 22:
            v = out[p[0] + p[1] + i]
            sign = (v >> 31) & 1
            m = v & 0x7FFFFF
            e = (v >> 23) & 255
            m = m | 0x800000
            if e > 122:  # rounded up to 1/16
                m = 0xFFFFFF
                e = 122
            if e < 115:
                m = v & mask
            else:
                a = m << (e - 116) if e > 115 else m >> 1
                a = (a >> 15) * (a >> 15) >> 8
                a = a // 3 - ((a >> 8) * (a >> 8) >> 14) * 2 // 15
                m = m << 6
                m -= (m >> 15) * (a >> 6) >> 9
                if m < 1 << 29:
                    m = m << 1
                    e -= 1
                m = ((m + 32) >> 6) + ((e - 1) << 23)
        else:
            v = mask if v >> 30 else v << 1
            c = 0
            if v >> 29:
                v = (v - (1 << 29)) >> 2
                c = 96
            elif v >> 28:
                c = 32
            else:
                v = v << 1
            c = c + (v >> 23)
            if c > 116:
                c = 116
            c += c + c
            t = (v >> 11) & 4095
            b = w[c + 2]
            m = (((b & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
            b = (((b >> 16) & 0xFFFF) << 3) - m
            v = v & 2047
            b = w[c + 1] - ((b * t + ((b * v) >> 11)) >> 12)
            m = b >> 12
            b = b & 4095
            m = (w[c] + m * t + ((m * v) >> 11) + ((b * t) >> 12)) & 0x1FFFFFFF
            m = ((m - (1 << 28) + 2) >> 2) & 0x7FFFFFF
            e = 124
            while m >= 1 << 24:
                m = (m + 1) >> 1
                e += 1
            while m and m < 1 << 23:
                m = m << 1
                e -= 1
            m += (e << 23) - (1 << 23) if m else 0
        if sign:
            m = m - mask - 1
        out[p[2] + i] = m
        i += 1


@micropython.viper
def relu(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """h = the floats behind arguments, or 0. p: as of lstm

    Access:
        n = p[1]
        reads out[p[0] + n : p[0] + 2 * n]
        writes out[p[2] : p[2] + n]
    """
    i = 0
    while i < p[1]:
        v = out[p[0] + p[1] + i]
        if (v >> 31) & 1:
            v = 0
        out[p[2] + i] = v
        i += 1


@micropython.viper
def reset(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """r * h in the place of h, for gates r of which x holds the arguments.

    p    first argument, n, first mantissa of h

    Access:
        reads x[p[0] : p[0] + p[1]]
        updates out[p[2] : p[2] + p[1]]
        reads w[0:351]
    """
    mask = 1
    mask = (mask << 31) - 1
    i = 0
    while True:
        if i >= p[1]:
            break
        v = x[p[0] + i]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        c = 0
        if v >> 29:
            v = (v - (1 << 29)) >> 2
            c = 96
        elif v >> 28:
            c = 32
        else:
            v = v << 1
        c = c + (v >> 23)
        if c > 116:
            c = 116
        c += c + c
        t = (v >> 11) & 4095
        b = w[c + 2]
        a = (((b & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
        b = (((b >> 16) & 0xFFFF) << 3) - a
        v = v & 2047
        b = w[c + 1] - ((b * t + ((b * v) >> 11)) >> 12)
        a = b >> 12
        b = b & 4095
        a = (w[c] + a * t + ((a * v) >> 11) + ((b * t) >> 12)) & 0x1FFFFFFF
        a = (a + 4) >> 3
        if sign:
            a = (1 << 26) - a
        v = out[p[2] + i]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        b = (((v >> 12) * (a & 8191)) >> 1) + (v & 4095) * (a >> 13)
        v = ((v >> 12) * (a >> 13) + (b >> 12) + 1) >> 1
        if sign:
            v = 0 - v
        out[p[2] + i] = v
        i += 1


@micropython.viper
def reset_sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Arguments of new states: sums over x, and those over h times gates r.

    p    first argument of r, n; behind them lie n sums over x, in whose place the results come,
         and n over h

    Access:
        updates out[p[0] : p[0] + 5 * p[1]]
        reads w[0:351]
    """
    mask = 1
    mask = (mask << 31) - 1
    n = p[1]
    at = p[0] + n
    i = 0
    while True:
        if i >= n:
            break
        v = out[p[0] + i]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        c = 0
        if v >> 29:
            v = (v - (1 << 29)) >> 2
            c = 96
        elif v >> 28:
            c = 32
        else:
            v = v << 1
        c = c + (v >> 23)
        if c > 116:
            c = 116
        c += c + c
        t = (v >> 11) & 4095
        b = w[c + 2]
        a = (((b & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
        b = (((b >> 16) & 0xFFFF) << 3) - a
        v = v & 2047
        b = w[c + 1] - ((b * t + ((b * v) >> 11)) >> 12)
        a = b >> 12
        b = b & 4095
        a = (w[c] + a * t + ((a * v) >> 11) + ((b * t) >> 12)) & 0x1FFFFFFF
        a = (a + 4) >> 3
        if sign:
            a = (1 << 26) - a
        e = at + 2 * n
        c0 = out[e]
        c1 = (out[e + 1] & mask) - (1 << 29) - (1 << 29)
        sign = 0
        if c1 < 0:
            c0 = 0 - c0
            sign = 1
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
            c0 = 0
            c1 = m << (s - 24)
        else:
            c0 = (m & ((1 << (24 - s)) - 1)) << s
            c1 = m >> (24 - s)
        if sign:
            c0 = 0 - c0
            c1 = 0 - c1
        c0 += out[at]
        c1 += (out[at + 1] & mask) - (1 << 29) - (1 << 29) + (c0 >> 24)
        c0 = c0 & 0xFFFFFF
        if c1 > 510 or c1 < 0 - 511:
            c0 = mask if c1 > 0 else 0 - mask
        else:
            c0 = (c1 << 22) + ((c0 + 2) >> 2)
        out[p[0] + n + i] = c0
        at += 2
        i += 1


@micropython.viper
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
    mask = 1
    mask = (mask << 31) - 1
    i = 0
    while True:
        if i >= p[1]:
            break
        at = p[0] + i
        v = out[at]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        c = 0
        if v >> 29:
            v = (v - (1 << 29)) >> 2
            c = 96
        elif v >> 28:
            c = 32
        else:
            v = v << 1
        c = c + (v >> 23)
        if c > 116:
            c = 116
        c += c + c
        t = (v >> 11) & 4095
        b = w[c + 2]
        a = (((b & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
        b = (((b >> 16) & 0xFFFF) << 3) - a
        v = v & 2047
        b = w[c + 1] - ((b * t + ((b * v) >> 11)) >> 12)
        a = b >> 12
        b = b & 4095
        a = (w[c] + a * t + ((a * v) >> 11) + ((b * t) >> 12)) & 0x1FFFFFFF
        a = (a + 4) >> 3
        if sign:
            a = (1 << 26) - a
        out[at] = a
        i += 1
    i = 0
    while True:
        if i >= p[1]:
            break
        at = p[0] + i
        v = out[at + 2 * p[1]]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        v = mask if v >> 30 else v << 1
        c = 0
        if v >> 29:
            v = (v - (1 << 29)) >> 2
            c = 96
        elif v >> 28:
            c = 32
        else:
            v = v << 1
        c = c + (v >> 23)
        if c > 116:
            c = 116
        c += c + c
        t = (v >> 11) & 4095
        a = w[c + 2]
        b = (((a & 0xFFFF) - 0x8000) * ((v >> 8) & 0x7FFF)) >> 15
        a = (((a >> 16) & 0xFFFF) << 3) - b
        v = v & 2047
        a = w[c + 1] - ((a * t + ((a * v) >> 11)) >> 12)
        b = a >> 12
        a = a & 4095
        b = (w[c] + b * t + ((b * v) >> 11) + ((a * t) >> 12)) & 0x1FFFFFFF
        b = ((b - (1 << 28) + 2) >> 2) & 0x7FFFFFF
        if sign:
            b = 0 - b
        f = out[at]
        v = out[p[2] + i]
        a = (1 << 26) - f
        sign = (v >> 31) & 1
        if (b >> 31) & 1:
            b = (b ^ mask) & mask
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
            m = m - mask - 1
        out[p[2] + i] = m
        i += 1


@micropython.viper
def put(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out = x. p: first of x, items, first of out

    Access:
        reads x[p[0] : p[0] + p[1]]
        writes out[p[2] : p[2] + p[1]]
    """
    i = p[0]
    at = p[2]
    end = i + p[1]
    while i < end:
        out[at] = x[i]
        at += 1
        i += 1
