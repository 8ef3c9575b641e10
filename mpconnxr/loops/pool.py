"""Largest value of a window, on the bits of the items: written once for Python and viper.

    x    float32 bits or bytes, one image plane (D, H, W) from item p[0]
    out  likewise: item p[17] + i for each output column i from p[15] to p[16] - 1
    p    x first, D, H, W, kd, kh, kw, dilations d, h, w, corner z, y (BIAS + items), pad of x
         (BIAS + items), stride of x, the bits of -inf (bytes: 128 if signed), first and last + 1
         output column, out first, strides z, y, x of an item's index, index of the plane's first

A window that lies wholly in the padding gives the least value. NaN wins if its sign is plus. The
find loops come after: x as before, w what the max loops gave, out two words an index (int64).
"""

from ._hints import inline


def max_row32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1] * p[2] * p[3]] if p[15] < p[16]
        writes out[p[17] + p[15] : p[17] + p[16]]
    """
    bias = 1 << 29
    for column in range(p[15], p[16]):
        best = p[14]
        for kz in range(p[4]):
            z = p[10] + kz * p[7]
            for ky in range(p[5]):
                y = p[11] + ky * p[8]
                if z >= bias and z < bias + p[1] and y >= bias and y < bias + p[2]:
                    row = p[0] + ((z - bias) * p[2] + y - bias) * p[3]
                    xx = column * p[13] + bias + bias - p[12]
                    for kx in range(p[6]):
                        if xx >= bias and xx < bias + p[3]:
                            v = x[row + xx - bias]
                            if (best >> 31) & 1:
                                if ((v >> 31) & 1) == 0 or v < best:
                                    best = v
                            elif ((v >> 31) & 1) == 0 and v > best:
                                best = v
                        xx += p[9]
        out[p[17] + column] = best


def max_row8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Access: as max_row32"""
    bias = 1 << 29
    flip = p[14]  # makes the order of signed bytes that of unsigned ones
    for column in range(p[15], p[16]):
        best = 0
        for kz in range(p[4]):
            z = p[10] + kz * p[7]
            for ky in range(p[5]):
                y = p[11] + ky * p[8]
                if z >= bias and z < bias + p[1] and y >= bias and y < bias + p[2]:
                    row = p[0] + ((z - bias) * p[2] + y - bias) * p[3]
                    xx = column * p[13] + bias + bias - p[12]
                    for kx in range(p[6]):
                        if xx >= bias and xx < bias + p[3]:
                            v = x[row + xx - bias] ^ flip
                            best = max(v, best)
                        xx += p[9]
        out[p[17] + column] = best ^ flip


@inline
def _find_row(x, w, out, p):
    """Find where the first of the largest items of each window is: both loops."""
    bias = 1 << 29
    for column in range(p[15], p[16]):
        best, found, at = w[p[17] + column], 0, p[21]
        kz = 0
        while kz < p[4] and found == 0:
            z, ky = p[10] + kz * p[7], 0
            while ky < p[5] and found == 0:
                y = p[11] + ky * p[8]
                if z >= bias and z < bias + p[1] and y >= bias and y < bias + p[2]:
                    row = p[0] + ((z - bias) * p[2] + y - bias) * p[3]
                    xx = column * p[13] + bias + bias - p[12]
                    kx = 0
                    while kx < p[6] and found == 0:
                        inside = xx >= bias and xx < bias + p[3]
                        if inside and x[row + xx - bias] == best:
                            found = 1
                            at += (z - bias) * p[18] + (y - bias) * p[19] + (xx - bias) * p[20]
                        xx += p[9]
                        kx += 1
                ky += 1
            kz += 1
        b = (p[17] + column) * 2
        out[b] = at
        b += 1
        out[b] = 0


def find_row32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1] * p[2] * p[3]] if p[15] < p[16]
        reads w[p[17] + p[15] : p[17] + p[16]]
        writes out[2 * (p[17] + p[15]) : 2 * (p[17] + p[16])]
    """
    _find_row(x, w, out, p)


def find_row8(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    """Access: as find_row32"""
    _find_row(x, w, out, p)
