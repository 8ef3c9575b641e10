"""Integers of 2, 4 or 8 bits to one byte each.

x holds them from the low bits of each byte on. w is not used.
"""

# Parameters of unpack
_X_START = 0  # [bytes] 0..
_ELEMENTS = const(1)  # [elements] 0..
_BITS_PER_ELEMENT = const(2)  # [bits] 2, 4, 8
_SIGN_BIT = const(3)  # sign bit of an element; 0: unsigned [mask] 0, 2, 8
_ELEMENTS_PER_BYTE = const(4)  # [elements] 1, 2, 4


def unpack(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Unpack elements.

    Access:
        reads x[x_start : x_start + (elements + elements_per_byte - 1) // elements_per_byte]
        writes out[0 : elements]
    """
    i, n, sign = p[_X_START], p[_ELEMENTS], p[_SIGN_BIT]
    mask, k = (1 << p[_BITS_PER_ELEMENT]) - 1, 0
    while k < n:
        v = x[i]
        end = min(k + p[_ELEMENTS_PER_BYTE], n)
        while k < end:
            out[k] = (((v & mask) ^ sign) - sign) & 255
            v = v >> p[_BITS_PER_ELEMENT]
            k += 1
        i += 1
