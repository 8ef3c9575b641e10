"""Running sums and products along the middle axis of (outer, n, inner). Plain form.

    p    lo, hi: range of lines; n, inner, product, exclusive, reverse (0 or 1 each); bits of an
         integer dtype: if it is signed, else 0; at all

What a float sum loses is carried along (Neumaier), for single floats.
"""


def cumulate_float(x, w, out, p):
    """
    Access:
        n, inner = p[2], max(p[3], 1)
        low, high = p[0] // inner * n * inner, ((p[1] - 1) // inner + 1) * n * inner
        reads x[low : high] if p[0] < p[1]
        writes out[low : high] if p[0] < p[1]
    """
    n, inner, product, exclusive = p[2], p[3], p[4], p[5]
    stride = -inner if p[6] else inner
    line = p[0]
    while line < p[1]:
        i = line // inner * n * inner + line % inner
        if p[6]:
            i += (n - 1) * inner
        total = 1.0 if product else 0.0
        lost = 0.0
        k = 0
        while k < n:
            v = x[i]
            if exclusive:
                out[i] = total + lost if total - total == 0.0 else total
            if product:
                total *= v
            else:
                new = total + v
                lost += (total - new) + v if abs(total) >= abs(v) else (v - new) + total
                total = new
            if not exclusive:
                out[i] = total + lost if total - total == 0.0 else total
            i += stride
            k += 1
        line += 1


def cumulate_int(x, w, out, p):
    """Access: as cumulate_float"""
    n, inner, product, exclusive = p[2], p[3], p[4], p[5]
    stride = -inner if p[6] else inner
    half, mask = 1 << p[7] >> 1, (1 << p[8]) - 1
    line = p[0]
    while line < p[1]:
        i = line // inner * n * inner + line % inner
        if p[6]:
            i += (n - 1) * inner
        total = product
        k = 0
        while k < n:
            new = (total * x[i] if product else total + x[i]) & mask
            out[i] = ((total if exclusive else new) + half & mask) - half
            total = new
            i += stride
            k += 1
        line += 1
