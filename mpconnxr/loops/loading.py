"""Loops for loading a model.

numbers  Read numbers of 1 to 5 bytes each (docs/format.md) from x. out gets `count` words, then
         the end of the numbers in x; or -1 instead if the bytes end too early, -2 if a number has
         more than 32 bits.
widen    Convert the float16 in x to float32, on the bits. out gets two 16-bit words each, the low
         one first. out may overlap x if x is its second half: an element is read before its
         memory is written.
"""

# Parameters of numbers
_START = const(0)  # of the first number [bytes] 0..
_END = const(1)  # of the bytes that may be read [bytes] 0..
_COUNT = const(2)  # [numbers] 0..

# Parameters of widen
_ELEMENTS = const(0)  # [elements] 0..


def numbers(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    """Read numbers of variable length.

    Access:
        reads x[start : end]
        writes out[0 : count + 1]
    """
    at, end, left, k = p[_START], p[_END], p[_COUNT], 0
    mask = 1
    mask = (mask << 31) - 1
    while left:
        code, shift, more = 0, 0, 1
        while more:
            byte = 0
            if at < end:
                byte = x[at]
                at += 1
                if shift == 28 and byte > 15:
                    at, byte, left = 0 - 2, 0, 0
            else:
                at, left = 0 - 1, 0
            more = byte >> 7
            code = code | (byte & 127) << shift
            shift += 7
        if left:
            half = (code >> 1) & mask
            out[k] = 0 - 1 - half if code & 1 else half
            k += 1
            left -= 1
    k = p[_COUNT]
    out[k] = at


def widen(x: ptr16, w: ptr16, out: ptr16, p: ptr32):
    """Convert float16 to float32.

    Access:
        reads x[0 : elements]
        writes out[0 : 2 * elements]
    """
    n, i, k = p[_ELEMENTS], 0, 0
    while i < n:
        half = x[i]
        m, e = half & 0x3FF, (half >> 10) & 31
        if e == 31:
            e = 255  # inf or NaN
        elif e:
            e += 112
        elif m:
            e = 113
            while m < 0x400:
                m = m << 1
                e -= 1
            m = m & 0x3FF
        out[k] = (m & 7) << 13
        out[k + 1] = (half & 0x8000) | e << 7 | m >> 3
        i += 1
        k += 2
