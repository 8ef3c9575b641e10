"""Products of 16-bit integers and weights of 8 bits, with requantization: under wide_conv.

Written once, for Python and viper; there is a quicker viper form, too. Items are uint16: signed
ones are taken plus 32768, and so are their zero points.

    out  position i, channel m: item p[5] + i * p[6] + m * p[7]; p[3] positions, p[4] channels
    x    records of 2 + K items, K = p[2]
    w    from p[1] on 12 bytes a channel: c as c1 * 2**15 + c0 (c1 an int32, c0 from 0 to 32767),
         and a word as of loops/qdot; from p[0] on rows of K bytes, weights plus 128
    p    as above, from p[9] on zero point, least and greatest of out (BIAS + each)

    sum = sum_k(x[k] * (w[k] - 128)) + c
    a = sum * 2**f (f > 31: sum / 2**(f - 32)), limited to -2**30 .. 2**30
    g = a * M / 2**24, rounded;  q = g / 2**13, rounded to even;  out = q + zero point, limited

Up to 120 products go into a word, and those words into two of 15 bits and more: sums are exact.
"""

from ._bytes import shift_wide


def wide_dots(x: ptr16, w: ptr8, out: ptr16, p: ptr32):
    """
    Access:
        k, n, m = p[2:5]
        reads x[0 : n * (k + 2)] if m
        reads w[p[1] : p[1] + 12 * m] if n
        reads w[p[0] : p[0] + m * k] if n
        writes out[p[5] : p[5] + (n - 1) * p[6] + (m - 1) * p[7] + 1] if n and m
    """
    bias, first, at = 1 << 29, 2, p[5]
    for n in range(p[3], 0, -1):
        j, t, k = p[0], p[1], at
        for m in range(p[4], 0, -1):
            i, end, high = first, first + p[2], 0
            low = 0
            while i < end:
                stop = min(i + 120, end)
                s = 0
                while i < stop - 1:  # with four at a time the loop over n is too long on Xtensa
                    s += x[i] * w[j] + x[i + 1] * w[j + 1]
                    i += 2
                    j += 2
                while i < stop:
                    s += x[i] * w[j]
                    i += 1
                    j += 1
                high += s >> 15
                low += s & 32767
            s = x[first - 2] | x[first - 1] << 16
            low += (w[t + 4] | w[t + 5] << 8) - ((s & 32767) << 7)
            high += (w[t] | w[t + 1] << 8 | w[t + 2] << 16) + (((w[t + 3] ^ 128) - 128) << 24)
            high += (low >> 15) - ((s >> 15) << 7)
            low, f = low & 32767, w[t + 8] & 63
            v, high, low, r = shift_wide(high, low, f, bias)
            s = w[t + 11] << 4 | w[t + 10] >> 4
            f = (w[t + 10] & 15) << 8 | w[t + 9]
            r, v = v & 32767, v >> 15
            f = ((v * f) << 3) + r * s + ((r * f) >> 12) + 2048
            v = ((v * s) << 3) + (f >> 12)
            v = max(((v + 4095 + ((v >> 13) & 1)) >> 13) + p[9] - bias, p[10] - bias)
            v = min(v, p[11] - bias)
            out[k] = v & 65535
            k += p[7]
            t += 12
        first += p[2] + 2
        at += p[6]
