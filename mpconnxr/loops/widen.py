"""float16 to float32, by their bits.

Written once, in the common subset of Python and viper. The output may lie over the input if that
is its second half: an item is read before its place is written.

    x    float16, from its first item;  out  float32 as two words of 16 bits an item, low one first
    p    items
"""


def widen(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """
    Access:
        reads x[0 : p[0]]
        writes out[0 : 2 * p[0]]
    """
    n, i, k = p[0], 0, 0
    while i < n:
        h = x[i]
        m, e = h & 0x3FF, (h >> 10) & 31
        if e == 31:
            e = 255  # inf, nan
        elif e:
            e += 112
        elif m:
            e = 113
            while m < 0x400:
                m = m << 1
                e -= 1
            m = m & 0x3FF
        out[k] = (m & 7) << 13
        out[k + 1] = (h & 0x8000) | e << 7 | m >> 3
        i += 1
        k += 2
