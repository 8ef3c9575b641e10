"""Search of floats among sorted thresholds, on their bits. Plain form.

x holds float32 as words. w holds levels: magnitude bits of floats, the negative ones first. out
gets a byte for each element: low plus the number of levels that are not above it.

The bits of positive floats are in the order of the floats, those of negative ones in reverse
order.
"""

# Parameters of levels8
_START = const(0)  # first element [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..
_NEGATIVE_LEVELS = const(2)  # [levels] 0..255
_LEVELS = const(3)  # [levels] 0..255
_LOW = const(4)  # result below all levels, as a byte [value] 0..255
_INFINITY = const(5)  # [float bits] 2139095040
_MAGNITUDE_MASK = const(6)  # all bits except the sign [mask] 2**31 - 1
_NAN = const(7)  # result for NaN, as a byte [value] 0..255


def levels8(x, w, out, p):
    """Quantize elements by thresholds.

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
            level = 0
            end = p[_NEGATIVE_LEVELS]
            while level < end:
                middle = (level + end) >> 1
                if w[middle] < bits:
                    end = middle
                else:
                    level = middle + 1
        else:
            level = p[_NEGATIVE_LEVELS]
            end = p[_LEVELS]
            while level < end:
                middle = (level + end) >> 1
                if w[middle] > bits:
                    end = middle
                else:
                    level = middle + 1
        level += p[_LOW]
        if bits > p[_INFINITY]:
            level = p[_NAN]
        out[i] = level & 255
        i += 1
