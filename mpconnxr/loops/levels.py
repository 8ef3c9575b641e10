"""A search for floats among sorted ones, by their bits. Plain form.

x holds float32 as words. w holds levels: bits of floats without the sign, the negative ones first.
out gets a byte for each element: low, and 1 more for each level that is not above it.

The bits of positive floats are in the order of the floats, those of negative ones in the reverse.
"""

# Parameters of levels8
_START = const(0)  # the first element [elements] 0..
_END = const(1)  # behind the last one [elements] 0..
_NEGATIVE_LEVELS = const(2)  # [levels] 0..255
_LEVELS = const(3)  # [levels] 0..255
_LOW = const(4)  # what is below all levels, as a byte [value] 0..255
_INFINITY = const(5)  # [float bits] 2139095040
_MAGNITUDE_MASK = const(6)  # all bits but the sign [mask] 2**31 - 1
_NAN = const(7)  # what NaN becomes, as a byte [value] 0..255


def levels8(x, w, out, p):
    """
    Access:
        reads x as int32[start : end]
        reads w as int32[0 : max(negative_levels, levels)] if start < end
        writes out as uint8[start : end]
    """
    i = p[_START]
    while i < p[_END]:
        v = x[i]
        bits = v & p[_MAGNITUDE_MASK]
        if (v >> 31) & 1:
            found = 0
            end = p[_NEGATIVE_LEVELS]
            while found < end:
                middle = (found + end) >> 1
                if w[middle] < bits:
                    end = middle
                else:
                    found = middle + 1
        else:
            found = p[_NEGATIVE_LEVELS]
            end = p[_LEVELS]
            while found < end:
                middle = (found + end) >> 1
                if w[middle] > bits:
                    end = middle
                else:
                    found = middle + 1
        found += p[_LOW]
        if bits > p[_INFINITY]:
            found = p[_NAN]
        out[i] = found & 255
        i += 1
