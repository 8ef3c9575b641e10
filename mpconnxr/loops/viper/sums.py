"""Sums of float32 by their bits: see loops/sums.

An item counts in three limbs of 15 bits. What is carried from one to the next waits for the end of
some items, so that no limb leaves 31 bits.
"""

from .._floats import first_bit, unpack
from .._hints import far
from .._viper import ptr32
from .._words import bit


def sum32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    top = bit(31)
    infinity = top - 1 - 0x7FFFFF
    unit = bit(30)
    o = p[0]
    while far(o < p[1]):
        first = o // p[3] * p[2] * p[3] + o % p[3]
        end, most = first + p[2] * p[3], 0
        found = 0  # 1: NaN, 2: inf, 4: -inf
        for i in range(first, end, p[3]):
            v = x[i]
            m = v & (top - 1)
            most = max(m, most)
            if m > infinity:
                found = found | 1
            elif m == infinity:
                found = found | (4 if (v >> 31) & 1 and p[4] == 0 else 2)
        if found:
            m = infinity
            if found == 4:
                m -= top
            elif found != 2:
                m = infinity | 0x400000
            out[o] = m
            o += 1
            continue
        most = most >> 23
        if most == 0:
            most = 1
        high = middle = low = 0
        i = first
        while i < end:
            n = 4096
            while i < end and n:
                n -= 1
                v = x[i]
                m, s = unpack(v)
                m, s = first_bit(m, s)
                s = most - s
                if p[4] == 2:
                    s, v = s + s, m & 511
                    m = m >> 9
                    m = m * m + ((m * v + (v * v >> 10)) >> 8)
                    v = 0
                else:
                    m = m << 6
                    if p[4]:
                        v = 0
                s += p[5]
                if s < 46:
                    a = m >> s if s < 31 else 0
                    m = (m >> (s - 15) if s > 15 else m << (15 - s)) & 32767
                    if (v >> 31) & 1:
                        low -= m
                        middle -= a & 32767
                        high -= a >> 15
                    else:
                        low += m
                        middle += a & 32767
                        high += a >> 15
                i += p[3]
            middle += low >> 15
            low = low & 32767
            high += middle >> 15
            middle = middle & 32767
        low, v = (middle << 15) | low, 0
        if high < 0:
            v, high = 1, 0 - high
            if low:
                high -= 1
                low = unit - low
        e = most + most - 111 if p[4] == 2 else most + 15
        e += p[5]
        m = 0
        if high or low:
            while high < 1 << 29:
                high = (high << 1) | (low >> 29)
                low = (low & 0x1FFFFFFF) << 1
                e -= 1
            s = 6 if e > 0 else 7 - e
            if s < 31:
                a, m = high & ((1 << s) - 1), high >> s
                if a >> (s - 1) and (a & ((1 << (s - 1)) - 1) or low or m & 1):
                    m += 1
                if e > 0:
                    m += (e - 1) << 23
                if e > 254:
                    m = infinity
            if v:
                m -= top
        out[o] = m
        o += 1
