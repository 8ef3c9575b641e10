"""Rows of an image file to pixels. Written once, in the common subset of Python and viper.

A pixel comes out as three bytes, red at place p[1] of them (0: RGB, 2: BGR) and blue at the other
end, or, where p[1] is 3, as one: (19595 red + 38470 green + 7471 blue + 32768) >> 16.

    p    n pixels, place of red, first byte of out, first byte of x, ...
"""

from ._hints import inline


@inline
def _put(out, o, red, r, g, b):
    """Put a pixel's colours to out[o]. Return the next place."""
    if red == 3:
        out[o] = (19595 * r + 38470 * g + 7471 * b + 32768) >> 16
        o += 1
    else:
        out[o + red] = r
        out[o + 1] = g
        out[o + 2 - red] = b
        o += 3
    return o


def indexed(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """x: codes of p[4] bits (1, 2, 4, 8), the first one in the high bits; w: colours of each code.

    Access:
        n = p[0]
        reads x[p[3] : p[3] + (n * p[4] + 7) // 8]
        reads w[0 : 3 << p[4]]
        writes out[p[2] : p[2] + n * (1 if p[1] == 3 else 3)]
    """
    red, o, i, bits = p[1], p[2], p[3], p[4]
    mask, left = (1 << bits) - 1, 8
    for k in range(p[0]):
        left -= bits
        c = 3 * ((x[i] >> left) & mask)
        if left == 0:
            left = 8
            i += 1
        r, g, b = w[c], w[c + 1], w[c + 2]
        o = _put(out, o, red, r, g, b)


def direct(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """x: p[4] bytes a pixel, red, green and blue at places p[5 : 8] of them; w: the value of each.

    Access:
        n = p[0]
        reads x[p[3] : p[3] + n * p[4]]
        reads w[0 : 256]
        writes out[p[2] : p[2] + n * (1 if p[1] == 3 else 3)]
        requires max(p[5:8]) < p[4]
    """
    red, o, i, step = p[1], p[2], p[3], p[4]
    for k in range(p[0]):
        r, g, b = w[x[i + p[5]]], w[x[i + p[6]]], w[x[i + p[7]]]
        i += step
        o = _put(out, o, red, r, g, b)


def unfilter(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Undoes PNG's filter p[1] (0 to 4) in out, p[0] bytes; x: those of the row above; p[2]: bytes
    from a pixel to the next, at least 1.

    Access:
        reads x[0 : p[0]]
        updates out[0 : p[0]]
    """
    n, kind, step = p[0], p[1], p[2]
    for i in range(n):
        left = above = corner = 0
        if i >= step:
            left, corner = out[i - step], x[i - step]
        if kind > 1:
            above = x[i]
        if kind == 1:
            v = left
        elif kind == 2:
            v = above
        elif kind == 3:
            v = (left + above) >> 1
        elif kind == 4:
            a, b, c = abs(above - corner), abs(left - corner), abs(left + above - 2 * corner)
            v = corner
            if b <= c:
                v = above
            if a <= b and a <= c:
                v = left
        else:
            v = 0
        out[i] = (out[i] + v) & 255
