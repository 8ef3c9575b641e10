"""Largest values of windows of a band, on the bits of float32: written once for Python and viper.

    x    (channels, rows, a row's items): the windows lie side by side
    out  from p[5] on: a window after another, a channel p[6] items behind the one before
    p    channels, rows, items of a row, items of a window in a row, windows, first item of out,
         items of out from channel to channel

NaN wins if its sign is plus.
"""

import micropython

COMMON = True


@micropython.viper
def pool(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    channel = 0
    while channel < p[0]:
        window = 0
        while window < p[4]:
            i = channel * p[1] * p[2] + window * p[3]
            best = x[i]
            row = 0
            while row < p[1]:
                j = i
                while j < i + p[3]:
                    v = x[j]
                    if (best >> 31) & 1:
                        if ((v >> 31) & 1) == 0 or v < best:
                            best = v
                    elif ((v >> 31) & 1) == 0 and v > best:
                        best = v
                    j += 1
                i += p[2]
                row += 1
            out[p[5] + channel * p[6] + window] = best
            window += 1
        channel += 1
