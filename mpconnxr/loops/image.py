"""Pixels of a picture, picked by fixed-point steps and looked up. Written once, in the common
subset of Python and viper.

x    bytes of the picture, rows from the top, no padding
w    int32: 256 entries for each channel of the output
out  bytes of the tensor
p    width of the picture, column and row of the first pixel and steps between pixels (16.16),
     width, height and channels (1 or 3) of the tensor, its strides of a channel, column and row,
     kind of x (0: gray, 1: RGB888, 2: RGB565, 3: the same, high byte first), 1 for BGR else 0,
     bytes of an element (1 or 4)
"""

from ._words import swap


def pixels(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """
    Access:
        w, h, n, kind, size = p[5], p[6], p[7], p[11], p[13]
        nbytes = 1 if kind == 0 else 3 if kind == 1 else 2
        first = (p[2] >> 16) * p[0] + (p[1] >> 16)
        last = (p[2] + (h - 1) * p[4] >> 16) * p[0] + (p[1] + (w - 1) * p[3] >> 16)
        reads x[first * nbytes : (last + 1) * nbytes] if w and h
        reads w[0 : 256 * min(n, 3)] if w and h
        end = (h - 1) * p[10] + (w - 1) * p[9] + (n - 1) * p[8] + 1
        writes out[0 : end * size] if w and h and n
    """
    kind, size, row = p[11], p[13], p[2]
    for y in range(p[6]):
        start, column = (row >> 16) * p[0], p[1]
        for i in range(p[5]):
            n = start + (column >> 16)
            if kind == 0:
                red = x[n]
                green = blue = red
            elif kind == 1:
                red, green, blue = x[3 * n], x[3 * n + 1], x[3 * n + 2]
            else:
                n = 2 * n
                swapped = kind - 2  # the high byte comes first
                word = x[n + swapped] | x[n + 1 - swapped] << 8
                red = word >> 11 << 3 | word >> 13
                green = (word >> 5 & 63) << 2 | (word >> 9 & 3)
                blue = (word & 31) << 3 | (word >> 2 & 7)
            if p[7] == 1:
                red = (77 * red + 150 * green + 29 * blue) >> 8
            elif p[12] == 1:
                red, blue, n = swap(red, blue)
            for c in range(p[7]):
                if c == 0:
                    value = w[red]
                elif c == 1:
                    value = w[256 + green]
                else:
                    value = w[512 + blue]
                n = (y * p[10] + i * p[9] + c * p[8]) * size
                k = n + size
                while n < k:
                    out[n] = value & 255
                    value >>= 8
                    n += 1
            column += p[3]
        row += p[4]
