"""Exact sums of the weights of leaves.

The sum of a target is a row of limbs, 8 bits apart, in words: a word can sum as many parts of 16
bits as there are trees, and is carried once at the end. The last limb of a row holds flags.

An entry of a leaf is three uint16: limb << 2 | minus << 1 | more, low, high. It adds low to that
limb, counted over the rows of all targets, and high to the second limb after it; `more` means that
the next entry belongs to the same leaf.
"""

from ._words import set_at

# Parameters of add
_LEAVES = const(0)  # leaves in x, one per tree [leaves] 1..

# Parameters of check
_ENTRIES = const(0)  # [entries] 1..

# Parameters of add, check
_ALL_LIMBS = const(1)  # of all targets [limbs] 0..

# Parameters of add
_MIRRORED_LIMBS = const(2)  # of target 0, if the sum of target 1 is subtracted; else 0 [limbs] 0..
_COMMON_LEAF = const(3)  # first entry of the leaf that every sample reaches [entries] 0..

# Parameters of check
_MOST_ENTRIES = const(2)  # of a leaf [entries] 0..

# Parameters of settle, store
_TARGETS = 0  # [targets] 0..

# Parameters of settle
_LIMBS = const(1)  # of a target [limbs] 1..
_DIVISOR = const(2)  # [value] 1..4096

# Parameters of store
_OUT_START = 1  # [elements] 0..
_STORE_LIMBS = const(2)  # of a target [limbs] 5..
_LEAST_BIT = const(3)  # lowest bit of a sum that a float32 represents [bits] 1..
_EXPONENT = const(4)  # exponent of bit 0 of a sum [exponent, BIAS]


def add(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """Set out to the sum of the leaves in x and of the common leaf, plus 2**29 in each limb.

    Access:
        requires 2 * mirrored_limbs <= all_limbs
        given check has accepted w, and the elements of x are first entries of leaves
        reads x[0 : leaves]
        reads w[0 : len(w)]
        writes out[0 : all_limbs]
    """
    for limb in range(p[_ALL_LIMBS]):
        out[limb] = 0x20000000
    tree, leaves = 0, p[_LEAVES]
    while tree <= leaves:
        entry, more = (x[tree] if tree < leaves else p[_COMMON_LEAF]) * 3, 1
        while more:
            head = w[entry]
            limb, more = head >> 2, head & 1
            if head & 2:
                out[limb] = out[limb] - w[entry + 1]
                out[limb + 2] = out[limb + 2] - w[entry + 2]
            else:
                out[limb] = out[limb] + w[entry + 1]
                out[limb + 2] = out[limb + 2] + w[entry + 2]
            entry += 3
        tree += 1
    for limb in range(p[_MIRRORED_LIMBS]):
        out[limb] = out[limb] - out[limb + p[_MIRRORED_LIMBS]] + 0x20000000


def settle(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Carry each target's limbs to the digits of the sum's magnitude, divide, and write the flags.

    Flags: 1 if the sum is negative, 2 if the division has a remainder.

    Access:
        updates out[0 : targets * limbs]
    """
    at = 0
    for target in range(p[_TARGETS]):
        end, carry, limb = at + p[_LIMBS] - 1, 0, at
        while limb < end:
            carry += out[limb] - 0x20000000
            out[limb] = carry & 255
            carry = carry >> 8
            limb += 1
        flags = 0
        if carry < 0:
            flags, carry, limb = 1, 1, at
            while limb < end:
                carry += out[limb] ^ 255
                out[limb] = carry & 255
                carry = carry >> 8
                limb += 1
        if p[_DIVISOR] > 1:
            rest = 0
            while limb > at:
                limb -= 1
                rest = rest << 8 | out[limb]
                v = rest // p[_DIVISOR]
                out[limb] = v
                rest -= v * p[_DIVISOR]
            if rest:
                flags += 2
        out[end] = flags
        at = end + 1


def store(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """Write the float32 (as two uint16) nearest to each target's sum in x, after settle.

    Access:
        requires (least_bit - 1) // 8 + 5 <= store_limbs
        given settle has left digits in x
        reads x[0 : targets * store_limbs]
        writes out[2 * out_start : 2 * (out_start + targets)]
    """
    at, i = 0, p[_OUT_START] * 2
    last = i + p[_TARGETS] * 2
    while i < last:
        end = at + p[_STORE_LIMBS] - 1
        k = end - 1
        while k > at and x[k] == 0:
            k -= 1
        v, top = x[k], (k - at) * 8 - 1
        while v:
            v = v >> 1
            top += 1
        low = top - 24  # lowest of the 25 bits that decide
        high = top + p[_EXPONENT] - 0x20000001
        if low < p[_LEAST_BIT] - 1:
            low, high = p[_LEAST_BIT] - 1, 0
        k, v = at + (low >> 3), low & 7
        mantissa = x[k] >> v | x[k + 1] << (8 - v) | x[k + 2] << (16 - v) | x[k + 3] << (24 - v)
        low, mantissa = mantissa & 1, mantissa >> 1
        if low and mantissa & 1 == 0:
            low = x[k] & ((1 << v) - 1) | x[end] >> 1
            while k > at:
                k -= 1
                low = low | x[k]
        if low:
            mantissa += 1
        high = (high << 7) + (mantissa >> 16)
        if high > 0x7F7F:
            high, mantissa = 0x7F80, 0
        out[i] = mantissa & 0xFFFF
        out[i + 1] = high | (x[end] & 1) << 15
        at = end + 1
        i += 2


def check(x: ptr16, w: ptr16, out: ptr32, p: ptr32):
    """Set out[0] to 1 if an entry is beyond the limbs or a leaf is too long or unended, else to 0.

    Access:
        reads x[0 : 3 * entries - 2]
        writes out[0 : 1]
    """
    entries = p[_ENTRIES]
    entry = at = bad = run = 0
    while entry < entries:
        run += 1
        if (x[at] >> 2) + 2 >= p[_ALL_LIMBS] or run > p[_MOST_ENTRIES]:
            bad = 1
        if x[at] & 1 == 0:
            run = 0
        at += 3
        entry += 1
    if run:
        bad = 1
    zero = set_at(out, 0, bad)
