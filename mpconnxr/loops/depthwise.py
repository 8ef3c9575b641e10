"""Depthwise convolution of bytes with requantization: the loop under qdepthwise. Plain form.

    x    bytes: room for K = kh * kw int32, aligned, then padded planes from p[0] on; an output's
         window begins at plane + y * p[10] + x * p[11], its item (ky, kx) lies at ky * p[6] +
         kx * p[7] from there
    w    bytes: from p[12] on int32 c and a word for each channel (see loops/qdot), from p[13] on
         K weights for each
    out  bytes: channel i, position j at p[14] + i * p[15] + j * p[16]
    p    planes first, bytes a plane, planes, channels a plane, kh, kw, steps of ky and kx, oh, ow,
         steps of y and x, table first, w first, out first, channel stride, position stride, zw,
         zy, lo, hi (BIAS + each), 1 where the table lies in x, not in w

    out = limited(requantized(sum(x * (w - zw)) + c) + zy)

depthwise33 is for kernels of 3 x 3 without dilation of x, depthwise_dense for those of 2 to 8
columns without it: the same but in forms that know better.

The other forms keep the K differences w - zw of a channel in the room before the planes.
"""

from .qdot import scaled

BIAS = 1 << 29


def depthwise8(x, w, out, p):
    """
    Access:
        n, k, positions = p[2] * p[3], p[4] * p[5], p[8] * p[9]
        last = (p[8] - 1) * p[10] + (p[9] - 1) * p[11] + (p[4] - 1) * p[6] + (p[5] - 1) * p[7]
        writes x as uint8[0 : 4 * k]
        reads x as uint8[p[0] : p[0] + (p[2] - 1) * p[1] + last + 1] if n and k and positions
        reads x as uint8[p[12] : p[12] + 8 * n] if p[21]
        reads w as uint8[p[12] : p[12] + 8 * n] if not p[21]
        reads w as uint8[p[13] : p[13] + n * k]
        writes out as uint8[p[14] : p[14] + (n - 1) * p[15] + (positions - 1) * p[16] + 1]
            if n and positions
    """
    channel = 0
    while channel < p[2] * p[3]:
        plane = p[0] + channel // p[3] * p[1]
        at = p[14] + channel * p[15]
        y = 0
        while y < p[8]:
            _row(x, w, out, p, plane + y * p[10], at, channel)
            at += p[9] * p[16]
            y += 1
        channel += 1


def depthwise33(x, w, out, p):
    """
    Access:
        requires p[4] == 3 and p[5] == 3 and p[7] == 1
        as depthwise8
    """
    depthwise8(x, w, out, p)


def depthwise_dense(x, w, out, p):
    """
    Access:
        requires 1 < p[5] < 9 and p[7] == 1
        as depthwise8
    """
    depthwise8(x, w, out, p)


def _row(x, w, out, p, i, at, channel):
    c = p[12] + 8 * channel
    table = x if p[21] else w
    n = p[9]
    while n:
        v = scaled(_window(x, w, p, i, channel), table, c) + p[18] - BIAS
        out[at] = min(max(v, p[19] - BIAS), p[20] - BIAS) & 255
        at += p[16]
        i += p[11]
        n -= 1


def _window(x, w, p, row, channel):
    total = 0
    j = p[13] + channel * p[4] * p[5]
    rows = p[4]
    while rows:
        i = row
        end = j + p[5]
        while j < end:
            total += x[i] * (w[j] - p[17])
            i += p[7]
            j += 1
        row += p[6]
        rows -= 1
    return total
