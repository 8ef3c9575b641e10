"""One patch of a deformed convolution. Plain form.

x    float32, from p[0] on: the group's channels;  out  float32, the patch (C, kh, kw)
w    (offset, mask)
p    first item of x, first channel, C, H, W, kh, kw, dilations y, x, corner y, x, first item of
     mask (of offset: see below), items between taps there, channels an offset group, 1 where there
     is a mask
"""


def deformed_patch(x, w, out, p):
    """Of a tap's two offsets the first lies at 2 * (tap's plane) + position.

    Access:
        taps, plane, n = p[5] * p[6], p[12], max(p[13], 1)
        low = p[11] + p[1] // n * taps * plane
        high = p[11] + ((p[1] + p[2] - 1) // n * taps + taps - 1) * plane + 1
        at = p[11] % plane
        reads x as float32[p[0] : p[0] + p[2] * p[3] * p[4]] if taps
        reads w[0 : 2]
        reads w[0][2 * low - at : 2 * high + plane - at - 1] if taps and p[2]
        reads w[1][low : high] if taps and p[2] and p[14]
        writes out as float32[0 : p[2] * taps]
    """
    offset, mask = w
    plane, taps = p[12], p[5] * p[6]
    position = p[11] % plane
    n = c = 0
    while c < p[2]:
        first = p[11] - position + (p[1] + c) // p[13] * taps * plane
        base = p[0] + c * p[3] * p[4]
        t = 0
        while t < taps:
            i = first + t * plane
            y = p[9] + t // p[6] * p[7] + offset[2 * i + position]
            z = p[10] + t % p[6] * p[8] + offset[2 * i + plane + position]
            v = bilinear(x, base, p[3], p[4], y, z)
            out[n] = v * mask[i + position] if p[14] else v
            n += 1
            t += 1
        c += 1


def bilinear(x, base, h, w, y, z):
    """The plane of h x w items from base on, at (y, z); zero outside and where that is nan."""
    if not (-1.0 < y < h and -1.0 < z < w):
        return 0.0
    row, column = int(y // 1), int(z // 1)
    b, d = y - row, z - column
    total = 0.0
    at = base + row * w + column
    if row >= 0:
        if column >= 0:
            total += (1.0 - b) * (1.0 - d) * x[at]
        if column + 1 < w:
            total += (1.0 - b) * d * x[at + 1]
    if row + 1 < h:
        if column >= 0:
            total += b * (1.0 - d) * x[at + w]
        if column + 1 < w:
            total += b * d * x[at + w + 1]
    return total
