"""Terms that the zero point of x adds to the sums of a quantized product.

zero_point copies a zero point that only a run knows to where other loops read it: out[start] =
x[0] ^ sign.

row_sums adds the terms of a known one to the biases, where the file's table lacks them: that makes
the table shorter, since its fields then need fewer bits.

    out[channel] -= factor * sum(w[channel])

w holds unsigned bytes as words: for each group the rows of its channels, four at a time
interleaved by words, then the remaining rows, contiguous. out holds two words for each channel,
see loops/channels, of which the first changes.
"""

# Parameters of row_sums
_W_START = const(0)  # [words] 0..
_OUT_START = const(1)  # [words] 0..
_GROUPS = const(2)  # [groups] 1..
_CHANNELS = const(3)  # of a group [channels] 1..
_COLUMNS = const(4)  # of a row of w [words] 0..
_FACTOR = const(5)  # factor of the sums [value] 0..8160

# Parameters of zero_point
_START = const(0)  # [bytes] 1..
_SIGN = const(1)  # 128 where x is signed [mask] 0, 128


def row_sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Subtract the sums of rows times the factor.

    Access:
        n = groups * channels
        reads w[w_start : w_start + n * columns]
        updates out[out_start : out_start + 2 * n]
        given 0 - (1 << 29) <= out[out_start : out_start + 2 * n] < 1 << 29
    """
    row, place = p[_W_START], p[_OUT_START]
    for groups_left in range(p[_GROUPS], 0, -1):
        channels_left = p[_CHANNELS]
        while channels_left:
            turns = 4
            if channels_left < 4:
                turns = 1
            words = turns * p[_COLUMNS]
            for turn in range(turns):
                at = row + turn
                end, total = at + words, 0
                while at < end:
                    v = w[at]
                    total += (v & 255) + ((v >> 8) & 255) + ((v >> 16) & 255) + ((v >> 24) & 255)
                    at += turns
                out[place] = out[place] - p[_FACTOR] * total
                place += 2
            row += words
            channels_left -= turns


def zero_point(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Copy the zero point of x.

    Access:
        reads x[0 : 1]
        writes out[start : start + 1]
    """
    i = p[_START]
    out[i] = x[0] ^ p[_SIGN]
