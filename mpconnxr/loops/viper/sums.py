"""Sums of float32 on the bits: see loops/sums. Viper form.

An element is added as three limbs of 15 bits. Carries are propagated only after several elements,
so that no limb exceeds 31 bits.
"""

from .._floats import first_bit, unpack
from .._hints import far
from .._viper import ptr32
from .._words import bit


def sum32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    top = bit(31)
    infinity = top - 1 - 0x7FFFFF
    unit = bit(30)
    o = p[_START]
    while far(o < p[_END]):
        first = o // p[_INNER] * p[_LENGTH] * p[_INNER] + o % p[_INNER]
        end, most = first + p[_LENGTH] * p[_INNER], 0
        specials = 0  # 1: NaN, 2: inf, 4: -inf
        for i in range(first, end, p[_INNER]):
            v = x[i]
            m = v & (top - 1)
            most = max(m, most)
            if m > infinity:
                specials = specials | 1
            elif m == infinity:
                specials = specials | (4 if (v >> 31) & 1 and p[_POWER] == 0 else 2)
        if specials:
            m = infinity
            if specials == 4:
                m -= top
            elif specials != 2:
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
            left = 4096
            while i < end and left:
                left -= 1
                v = x[i]
                m, shift = unpack(v)
                m, shift = first_bit(m, shift)
                shift = most - shift
                if p[_POWER] == 2:
                    shift, v = shift + shift, m & 511
                    m = m >> 9
                    m = m * m + ((m * v + (v * v >> 10)) >> 8)
                    v = 0
                else:
                    m = m << 6
                    if p[_POWER]:
                        v = 0
                shift += p[_EXTRA_BITS]
                if shift < 46:
                    part = m >> shift if shift < 31 else 0
                    m = (m >> (shift - 15) if shift > 15 else m << (15 - shift)) & 32767
                    if (v >> 31) & 1:
                        low -= m
                        middle -= part & 32767
                        high -= part >> 15
                    else:
                        low += m
                        middle += part & 32767
                        high += part >> 15
                i += p[_INNER]
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
        e = most + most - 111 if p[_POWER] == 2 else most + 15
        e += p[_EXTRA_BITS]
        m = 0
        if high or low:
            while high < 1 << 29:
                high = (high << 1) | (low >> 29)
                low = (low & 0x1FFFFFFF) << 1
                e -= 1
            shift = 6 if e > 0 else 7 - e
            if shift < 31:
                part, m = high & ((1 << shift) - 1), high >> shift
                if part >> (shift - 1) and (part & ((1 << (shift - 1)) - 1) or low or m & 1):
                    m += 1
                if e > 0:
                    m += (e - 1) << 23
                if e > 254:
                    m = infinity
            if v:
                m -= top
        out[o] = m
        o += 1
