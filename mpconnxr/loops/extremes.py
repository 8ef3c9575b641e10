"""Largest or smallest float32 along the middle axis of x, on the bits.

x has shape (outer, length, inner). A line is the elements along its middle axis. out gets one
element for each line, 0x7FC00000 if the line has a NaN. Both hold float32 as words; w is not read.
-0 is less than 0.
"""

from ._words import all_but_sign

# Parameters of extreme32
_START = const(0)  # first output [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # size of the inner axis [lines] 1..
_IS_MINIMUM = const(4)  # find the smallest, not the largest [flag] 0, 1


def extreme32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the largest or smallest element of each line.

    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x[low : high] if start < end
        writes out[start : end]
    """
    mask = all_but_sign()
    infinity = mask - 0x7FFFFF
    for o in range(p[_START], p[_END]):
        i = o // p[_INNER] * p[_LENGTH] * p[_INNER] + o % p[_INNER]
        end, best = i + p[_LENGTH] * p[_INNER], 0 - mask
        while i < end:
            v = x[i]
            key = v & mask
            if key > infinity:
                key, i = mask, end
            else:
                if (v >> 31) & 1:
                    key = 0 - 1 - key
                if p[_IS_MINIMUM]:
                    key = 0 - key
            best = max(key, best)
            i += p[_INNER]
        if best == mask:
            best = infinity | 0x400000
        else:
            if p[_IS_MINIMUM]:
                best = 0 - best
            if best < 0:
                best = 0 - 1 - best - mask - 1
        out[o] = best
