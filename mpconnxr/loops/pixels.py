"""Rows of an image file to pixels.

A pixel of out is three bytes, red at index out_red (0: RGB, 2: BGR) and blue at the other end; or,
if out_red is 3, one byte of gray: (19595 red + 38470 green + 7471 blue + 32768) >> 16.
"""

from ._hints import inline

# Parameters of indexed, direct
_PIXELS = 0  # [pixels] 0..
_OUT_RED = 1  # offset of red in a pixel of out; 3: gray pixels [bytes] 0, 2, 3
_OUT_START = 2  # [bytes] 0..
_X_START = 3  # [bytes] 0..

# Parameters of indexed
_BITS_PER_PIXEL = 4  # of x [bits] 1, 2, 4, 8

# Parameters of direct
_BYTES_PER_PIXEL = 4  # of x [bytes] 1..
_RED = 5  # offset in a pixel of x [bytes] 0..
_GREEN = 6  # offset in a pixel of x [bytes] 0..
_BLUE = 7  # offset in a pixel of x [bytes] 0..

# Parameters of unfilter
_UNFILTER_BYTES = const(0)  # of the row [bytes] 0..
_UNFILTER_METHOD = const(1)  # filter type of PNG [code] 0..4
_UNFILTER_STEP = const(2)  # from pixel to pixel [bytes] 1..


@inline
def _put(out, at, red_place, red, green, blue):
    """Write a pixel's colours to out[at]; return the next index."""
    if red_place == 3:
        out[at] = (19595 * red + 38470 * green + 7471 * blue + 32768) >> 16
        at += 1
    else:
        out[at + red_place] = red
        out[at + 1] = green
        out[at + 2 - red_place] = blue
        at += 3
    return at


def indexed(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Convert codes of pixels, the first one in the high bits, by w, three colours for each code.

    Access:
        reads x[x_start : x_start + (pixels * bits_per_pixel + 7) // 8]
        reads w[0 : 3 << bits_per_pixel]
        writes out[out_start : out_start + pixels * (1 if out_red == 3 else 3)]
    """
    red_place, at, i, bits = p[_OUT_RED], p[_OUT_START], p[_X_START], p[_BITS_PER_PIXEL]
    mask, left = (1 << bits) - 1, 8
    for k in range(p[_PIXELS]):
        left -= bits
        code = 3 * ((x[i] >> left) & mask)
        if left == 0:
            left = 8
            i += 1
        red, green, blue = w[code], w[code + 1], w[code + 2]
        at = _put(out, at, red_place, red, green, blue)


def direct(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Convert pixels with a byte for each colour by w, the value of each byte.

    Access:
        requires max(red, green, blue) < bytes_per_pixel
        reads x[x_start : x_start + pixels * bytes_per_pixel]
        reads w[0 : 256]
        writes out[out_start : out_start + pixels * (1 if out_red == 3 else 3)]
    """
    red_place, at, i, step = p[_OUT_RED], p[_OUT_START], p[_X_START], p[_BYTES_PER_PIXEL]
    for k in range(p[_PIXELS]):
        red, green, blue = w[x[i + p[_RED]]], w[x[i + p[_GREEN]]], w[x[i + p[_BLUE]]]
        i += step
        at = _put(out, at, red_place, red, green, blue)


def unfilter(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Undo PNG's filter in out, a row; x is the row above.

    Access:
        reads x[0 : unfilter_bytes]
        updates out[0 : unfilter_bytes]
    """
    nbytes, method, step = p[_UNFILTER_BYTES], p[_UNFILTER_METHOD], p[_UNFILTER_STEP]
    for i in range(nbytes):
        left = above = corner = 0
        if i >= step:
            left, corner = out[i - step], x[i - step]
        if method > 1:
            above = x[i]
        if method == 1:
            v = left
        elif method == 2:
            v = above
        elif method == 3:
            v = (left + above) >> 1
        elif method == 4:
            left_error, above_error, corner_error = (
                abs(above - corner),
                abs(left - corner),
                abs(left + above - 2 * corner),
            )
            v = corner
            if above_error <= corner_error:
                v = above
            if left_error <= above_error and left_error <= corner_error:
                v = left
        else:
            v = 0
        out[i] = (out[i] + v) & 255
