"""Integers of 2 or 4 bits, one after another from the low bits of a byte, to a byte each.

Written once, in the common subset of Python and viper.

    x    bytes;  out  n bytes
    p    first byte of x, n, bits an item, bit of the sign (0: unsigned), items a byte
"""


def unpack(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + (p[1] + p[4] - 1) // p[4]]
        writes out[0 : p[1]]
    """
    i, n, sign = p[0], p[1], p[3]
    mask, k = (1 << p[2]) - 1, 0
    while k < n:
        v = x[i]
        end = min(k + p[4], n)
        while k < end:
            out[k] = (((v & mask) ^ sign) - sign) & 255
            v = v >> p[2]
            k += 1
        i += 1
