"""Position of the largest or smallest float32, on the bits, or byte. In the common subset."""


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
        found = best = k = 0
        while k < p[2]:
            v = x[i]
            key = v & p[7]
            if key > p[8]:  # nothing is above a NaN
                found, k = k, p[2]
            else:
                if (v >> 31) & 1 != p[4]:
                    key = 0 - key
                if k == 0 or key > best or key == best and p[5]:
                    best, found = key, k
                i += p[3]
                k += 1
        out[at] = found
        if p[6] == 2:
            out[at + 1] = 0
        at += p[6]
        o += 1


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
    flip, last, o = p[4], p[5], p[0]
    at = o * p[6]
    while o < p[1]:
        i = o // p[3] * p[2] * p[3] + o % p[3]
        found = k = 0
        best = 0 - 1
        while k < p[2]:
            key = x[i] ^ flip
            if key > best or key == best and last:
                best, found = key, k
            i += p[3]
            k += 1
        out[at] = found
        if p[6] == 2:
            out[at + 1] = 0
        at += p[6]
        o += 1
