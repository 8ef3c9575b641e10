"""Position of the largest or smallest float32, on the bits, or byte. In the common subset.

Made from tools/loops/common/arg_bits.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def arg_reduce(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Along the middle axis of x (outer, n, inner); out: int64 as two words, or int32.

    p    lo, hi: range of outputs; n, inner, smallest (0 or 1), last of equal ones (0 or 1), words
         of an output, 2**31 - 1, bits of inf

    Access:
        n, inner = p[2], max(p[3], 1)
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x[low : high] if p[0] < p[1]
        writes out[p[0] * p[6] : p[1] * p[6]]
    """
    o = p[0]
    at = o * p[6]
    while o < p[1]:
        i = o // p[3] * p[2] * p[3] + o % p[3]
        found = 0
        best = 0
        k = 0
        while k < p[2]:
            v = x[i]
            key = v & p[7]
            if key > p[8]:  # nothing is above a NaN
                found = k
                k = p[2]
            else:
                if (v >> 31) & 1 != p[4]:
                    key = 0 - key
                if k == 0 or key > best or key == best and p[5]:
                    best = key
                    found = k
                i += p[3]
                k += 1
        out[at] = found
        if p[6] == 2:
            out[at + 1] = 0
        at += p[6]
        o += 1


@micropython.viper
def arg_reduce8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """The same of bytes.

    p    lo, hi: range of outputs; n, inner, what makes the wanted byte the largest (0, 128 for
         signed ones; 255, 127 for the smallest), last of equal ones (0 or 1), words of an output

    Access:
        n, inner = p[2], max(p[3], 1)
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x[low : high] if p[0] < p[1]
        writes out[p[0] * p[6] : p[1] * p[6]]
    """
    flip = p[4]
    last = p[5]
    o = p[0]
    at = o * p[6]
    while o < p[1]:
        i = o // p[3] * p[2] * p[3] + o % p[3]
        found = 0
        k = 0
        best = 0 - 1
        while k < p[2]:
            key = x[i] ^ flip
            if key > best or key == best and last:
                best = key
                found = k
            i += p[3]
            k += 1
        out[at] = found
        if p[6] == 2:
            out[at + 1] = 0
        at += p[6]
        o += 1
