"""A search for floats among sorted ones, by their bits. Plain form.

    x    float32 as words;  w  levels: bits without the sign, negative ones first;  out  bytes
    p    lo, hi: range of items; negative levels, levels, first byte, bits of infinity, mask of the
         bits without the sign, byte for NaN

The bits of positive floats are in the order of the floats, those of negative ones in the reverse.
"""


def levels8(x, w, out, p):
    """
    Access:
        reads x as int32[p[0] : p[1]]
        reads w as int32[0 : max(p[2], p[3])] if p[0] < p[1]
        writes out as uint8[p[0] : p[1]]
    """
    i = p[0]
    while i < p[1]:
        v = x[i]
        bits = v & p[6]
        if (v >> 31) & 1:
            a = 0
            b = p[2]
            while a < b:
                k = (a + b) >> 1
                if w[k] < bits:
                    b = k
                else:
                    a = k + 1
        else:
            a = p[2]
            b = p[3]
            while a < b:
                k = (a + b) >> 1
                if w[k] > bits:
                    b = k
                else:
                    a = k + 1
        a += p[4]
        if bits > p[5]:
            a = p[7]
        out[i] = a & 255
        i += 1
