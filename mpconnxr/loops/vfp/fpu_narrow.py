"""Sums of loops/vfp/fpu_sums with weights of fewer bits: see ops/_block_vfp. In viper.

The weights become mantissas in the scratch, some rows at a time, which stay until others are
needed: so that costs little where many positions meet the same weights, or all have room.
"""

import micropython


@micropython.viper
def sums(x, w, out, p):
    """p: as of loops/vfp/fpu_sums, as if the weights were mantissas.

    w: bytes of weights, scratch, q, loops unpack and sums; q: what unpack takes, then 5 rows at a
    time, rows, 7 first and end of those that are unpacked, bytes of a row
    """
    weights = w[0]
    scratch = w[1]
    q_p = w[2]
    unpack = w[3]
    add = w[4]
    q = ptr32(q_p)
    s = ptr32(p)
    m = s[7]
    place = s[11]
    row = place // (4 * q[2])
    end = row + s[1] * m
    while row < end:
        n = q[5]
        if n > end - row:
            n = end - row
        if row < q[7] or row + n > q[8]:
            i = 7
            q[i] = row
            q[i + 1] = row + q[5] if row + q[5] < q[6] else q[6]
            i = 0
            q[i] = row * q[9]
            q[i + 1] = q[8] - row
            unpack(weights, weights, scratch, q_p)
        i = 7
        s[i] = n // s[1]
        i = 11
        s[i] = 4 * (q[3] + (row - q[7]) * q[2])
        add(x, scratch, out, p)
        s[i + 1] += 8 * n
        s[i + 2] += s[15] * n
        row += n
    n = s[1] * m
    i = 11
    s[i] = place
    s[i + 1] -= 8 * n
    s[i + 2] -= s[15] * n
    i = 7
    s[i] = m
