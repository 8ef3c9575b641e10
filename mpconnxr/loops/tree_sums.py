"""Adds up leaves' weights exactly. Written once, in the common subset of Python and viper.

The sum of a target is a row of limbs, 8 bits apart, in words: the words take as many parts of 16
bits as there are trees, and are carried once at the end. The last limb of a row is for flags.

An entry of a leaf is three uint16: limb << 2 | minus << 1 | more, low, high. It adds low to that
limb of all targets' rows, and high to the second after it; `more` if the next entry is the same
leaf's.
"""

from ._words import set_at


def add(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """out = what the leaves x and one more add up to, plus 2**29 in each limb.

    p    leaves, limbs of all targets, limbs of the first target if that has the second one's sum
         taken from it, else 0; the leaf that every sample comes to

    Access:
        requires 2 * p[2] <= p[1]
        given check has found w good, and the items of x are first entries of leaves
        reads x[0 : p[0]]
        reads w[0 : len(w)]
        writes out[0 : p[1]]
    """
    for k in range(p[1]):
        out[k] = 0x20000000
    tree, n = 0, p[0]
    while tree <= n:
        i, more = (x[tree] if tree < n else p[3]) * 3, 1
        while more:
            v = w[i]
            k, more = v >> 2, v & 1
            if v & 2:
                out[k] = out[k] - w[i + 1]
                out[k + 2] = out[k + 2] - w[i + 2]
            else:
                out[k] = out[k] + w[i + 1]
                out[k + 2] = out[k + 2] + w[i + 2]
            i += 3
        tree += 1
    for k in range(p[2]):
        out[k] = out[k] - out[k + p[2]] + 0x20000000


def settle(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out: each target's limbs as digits of the sum's magnitude, divided; flags in the last one.

    p    targets, limbs, divisor
    Flags: 1 where the sum is negative, 2 where the division leaves a rest.

    Access:
        requires p[1] > 0
        updates out[0 : p[0] * p[1]]
    """
    at = 0
    for target in range(p[0]):
        end, carry, k = at + p[1] - 1, 0, at
        while k < end:
            carry += out[k] - 0x20000000
            out[k] = carry & 255
            carry = carry >> 8
            k += 1
        flags = 0
        if carry < 0:
            flags, carry, k = 1, 1, at
            while k < end:
                carry += out[k] ^ 255
                out[k] = carry & 255
                carry = carry >> 8
                k += 1
        if p[2] > 1:
            rest = 0
            while k > at:
                k -= 1
                rest = rest << 8 | out[k]
                v = rest // p[2]
                out[k] = v
                rest -= v * p[2]
            if rest:
                flags += 2
        out[end] = flags
        at = end + 1


def store(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """out = the float32 (as two uint16) nearest to what x has of each target after settle.

    p    targets, first item of out, limbs, least bit that a float32 has, exponent of bit 0 + 2**29

    Access:
        requires p[3] > 0 and (p[3] - 1) // 8 + 5 <= p[2]
        given settle has left digits in x
        reads x[0 : p[0] * p[2]]
        writes out[2 * p[1] : 2 * (p[1] + p[0])]
    """
    at, i = 0, p[1] * 2
    last = i + p[0] * 2
    while i < last:
        end = at + p[2] - 1
        k = end - 1
        while k > at and x[k] == 0:
            k -= 1
        v, top = x[k], (k - at) * 8 - 1
        while v:
            v = v >> 1
            top += 1
        low = top - 24  # of the 25 bits that decide
        high = top + p[4] - 0x20000001
        if low < p[3] - 1:
            low, high = p[3] - 1, 0
        k, v = at + (low >> 3), low & 7
        m = x[k] >> v | x[k + 1] << (8 - v) | x[k + 2] << (16 - v) | x[k + 3] << (24 - v)
        low, m = m & 1, m >> 1
        if low and m & 1 == 0:
            low = x[k] & ((1 << v) - 1) | x[end] >> 1
            while k > at:
                k -= 1
                low = low | x[k]
        if low:
            m += 1
        high = (high << 7) + (m >> 16)
        if high > 0x7F7F:
            high, m = 0x7F80, 0
        out[i] = m & 0xFFFF
        out[i + 1] = high | (x[end] & 1) << 15
        at = end + 1
        i += 2


def check(x: ptr16, w: ptr16, out: ptr32, p: ptr32):
    """out[0] = 1 if an entry is beyond the limbs, or a leaf has too many or no end.

    p    entries, limbs of all targets, most entries of a leaf

    Access:
        reads x[0 : 3 * p[0] - 2]
        writes out[0 : 1]
    """
    n = p[0]
    i = at = bad = run = 0
    while i < n:
        run += 1
        if (x[at] >> 2) + 2 >= p[1] or run > p[2]:
            bad = 1
        if x[at] & 1 == 0:
            run = 0
        at += 3
        i += 1
    if run:
        bad = 1
    zero = set_at(out, 0, bad)
