"""Means of windows of 16-bit integers. Written once, for Python and viper.

choose_wide   makes integers of the means, but of those near the middle between two, which it lists

    x    items: planes (H, W) from item p[0] on, one after another
    w    the list, as loops/means takes it
    out  items, planes (oh, ow) from item p[1] on
    p    as there; p[17] what counts as near: so many of 2 * items * p[20] that are a step
"""

from ._bytes import next_window
from ._words import set_at


def choose_wide(x: ptr16, w: ptr32, out: ptr16, p: ptr32):
    """Access: as means.choose"""
    window, listed, step = p[21], 0, 2 * p[13] * p[20]
    left = window % p[12] * p[8] - p[10]
    top = window // p[12] % p[11] * p[7] - p[9]
    row = p[0] + window // (p[11] * p[12]) * p[3] * p[4]
    past = p[12] * p[8] - p[10]
    while window < p[2] * p[11] * p[12] and listed < 64:
        y = top if top > 0 else 0
        bottom = min(top + p[5], p[3])
        first = left if left > 0 else 0
        right = min(left + p[6], p[4])
        total = (y - bottom) * (right - first) * p[15]
        while y < bottom:
            i = row + y * p[4]
            stop = i + right
            i += first
            while i < stop:
                total += x[i] ^ p[16]
                i += 1
            y += 1
        i = 2 * (total if total > 0 else 0 - total) * p[19] + (step >> 1)
        stop = i // step
        i -= stop * step
        if i < p[17] or step - i < p[17]:
            w[listed] = window
            listed += 1
        else:
            i = min(max(p[28] + (stop if total > 0 else 0 - stop), 0), 65535)
            out[p[1] + window] = i ^ p[16]
        window, left, top, row = next_window(window, left, top, row, past, p)
    i = set_at(p, 21, window)
    p[i + 1] = listed
