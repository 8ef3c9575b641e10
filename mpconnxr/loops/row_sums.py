"""What a zero point adds to the sums of a quantized product. Written once, for Python and viper.

out[c] -= factor * sum(w[c])

w    uint8 as words: for each group its channels' rows, four at a time by turns of a word, then
     those left one after another
out  int32, two words a channel: see loops/channels
p    first word of w, first word of out, groups, channels a group, words a row, factor
"""


def row_sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        n = p[2] * p[3]
        reads w[p[0] : p[0] + n * p[4]]
        updates out[p[1] : p[1] + 2 * n]
    """
    i, o = p[0], p[1]
    for groups in range(p[2], 0, -1):
        left = p[3]
        while left:
            turns = 4
            if left < 4:
                turns = 1
            row = turns * p[4]
            for k in range(turns):
                at = i + k
                end, s = at + row, 0
                while at < end:
                    v = w[at]
                    s += (v & 255) + ((v >> 8) & 255) + ((v >> 16) & 255) + ((v >> 24) & 255)
                    at += turns
                out[o] = out[o] - p[5] * s
                o += 2
            i += row
            left -= turns
