"""Products of 16-bit integers and weights of 8 bits: see loops/wide_dots. Viper form.

The emitter keeps the first three locals in registers: both pointers, and the sum, in `out`, as if
it were an address.

Made from tools/loops/viper/wide_dots.py by `make loops`:
change that file, not this one.
"""

import micropython


@micropython.viper
def wide_dots(x: ptr16, w: ptr8, out: ptr16, p: ptr32):
    bias = 1 << 29
    items = out
    row = int(x) + 4
    blob = int(w)
    at = p[5]
    n = p[3]
    while n:
        j = blob + p[0]
        t = blob + p[1]
        k = at
        m = p[4]
        while m:
            x = ptr16(row)
            w = ptr8(j)
            j += p[2]
            end = row + 2 * p[2]
            high = 0
            low = 0
            while int(x) < end:
                stop = int(x) + 240
                if stop > end:
                    stop = end
                out = ptr16(0)
                while int(x) < stop - 6:
                    out = ptr16(x[0] * w[0] + x[1] * w[1] + x[2] * w[2] + x[3] * w[3] + int(out))
                    x = ptr16(int(x) + 8)
                    w = ptr8(int(w) + 4)
                while int(x) < stop:
                    out = ptr16(x[0] * w[0] + int(out))
                    x = ptr16(int(x) + 2)
                    w = ptr8(int(w) + 1)
                high += int(out) >> 15
                low += int(out) & 32767
            x = ptr16(row - 4)
            w = ptr8(t)
            s = x[0] | x[1] << 16
            low += (w[4] | w[5] << 8) - ((s & 32767) << 7)
            high += (w[0] | w[1] << 8 | w[2] << 16) + (((w[3] ^ 128) - 128) << 24)
            high += (low >> 15) - ((s >> 15) << 7)
            low = low & 32767
            f = w[8] & 63
            r = f - 32
            if r > 15:
                v = high >> (r - 15)
            else:
                if r < 0:
                    r = 0
                v = 1 << (15 + r)
                if high >= v:
                    high = v - 1
                    low = 32767
                if high < 0 - v:
                    high = 0 - v
                    low = 0
                v = (high << (15 - r)) + (low >> r)
            r = bias << 1
            if f < 32:
                r = r >> f
            if v > r:
                v = r
            if v < 0 - r:
                v = 0 - r
            if f < 32:
                v = v << f
            s = w[11] << 4 | w[10] >> 4
            f = (w[10] & 15) << 8 | w[9]
            r = v & 32767
            v = v >> 15
            f = ((v * f) << 3) + r * s + ((r * f) >> 12) + 2048
            v = ((v * s) << 3) + (f >> 12)
            v = ((v + 4095 + ((v >> 13) & 1)) >> 13) + p[9] - bias
            if v < p[10] - bias:
                v = p[10] - bias
            if v > p[11] - bias:
                v = p[11] - bias
            items[k] = v
            k += p[7]
            t += 12
            m -= 1
        row += 2 * p[2] + 4
        at += p[6]
        n -= 1
