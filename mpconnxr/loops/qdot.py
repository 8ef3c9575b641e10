"""Dot products of bytes with requantization: the loops under qconv. Plain form.

    x    Kp items a position, those of the first from p[12] on, of the next ones p[13] bytes behind
         one another; where p[14] is 1 the 4 bytes before each hold the sum S of its items
    w    from p[1] on, for each of M channels: int32 c, and a word (below); from p[0] on, rows of
         Kp weights: four channels at a time, interleaved by four items ([Kp / 4][4 rows][4
         items]), then the rows of the up to three channels that are left, one after another
    out  bytes; position i, channel m: item p[5] + i * p[6] + m * p[7]
    p    w first, table first, Kp, positions, M, out first, position stride, channel stride, zw,
         zy, lo, hi (zero point and range of out, BIAS + each), three for x, see there, and 1
         where the table lies in x, not in w

    sum[m] = sum_k(x[k] * w[m, k]) - zw * S + c[m]

qdots8_many is the same for positions with their sums, side by side (p[13] is Kp + 4), in a form
that is quicker for several.
Both multiply by a scale, a positive number that the word holds as bits 0-5 f, 8-31 M: scale =
M * 2**(f - 40) if f < 32, else M * 2**(-8 - f).

    a = sum shifted to the left by f, or to the right by f - 32, limited to -2**25 .. 2**25
    g = a * M / 2**24, rounded;  q = g / 2**16, rounded to even from the middle
    out = q + zy, limited to lo .. hi

such that no intermediate value exceeds 31 bits: docs/quantization.md. The shift to the right is
rounded by half a unit in c. The caller keeps Kp a multiple of 4 and Kp * 255 * 255 below 2**31,
positions and M above 0.
"""

BIAS = 1 << 29
_LIMIT = 1 << 25


def qdots8(x, w, out, p):
    """
    Access:
        kp, n, m = p[2:5]
        requires kp % 4 == 0 and n and m
        reads x as uint8[p[12] - (4 if p[14] else 0) : p[12] + (n - 1) * p[13] + kp]
        reads x as uint8[p[1] : p[1] + 8 * m] if p[15]
        reads w as uint8[p[1] : p[1] + 8 * m] if not p[15]
        reads w as uint8[p[0] : p[0] + m * kp]
        writes out as uint8[p[5] : p[5] + (n - 1) * p[6] + (m - 1) * p[7] + 1]
    """
    first, at, n = p[12], p[5], p[3]
    while n:
        m = 0
        zs = p[8] * items_sum(x, p, first)
        while m < p[4]:
            v = scaled(row_sum(x, w, p, first, m) - zs, x if p[15] else w, p[1] + 8 * m)
            v += p[9] - BIAS
            out[at + m * p[7]] = min(max(v, p[10] - BIAS), p[11] - BIAS) & 255
            m += 1
        first += p[13]
        at += p[6]
        n -= 1


def qdots8_many(x, w, out, p):
    """
    Access:
        requires p[14] and p[13] == p[2] + 4
        as qdots8
    """
    qdots8(x, w, out, p)


def word(w, i):
    """A signed word of bytes."""
    return (w[i] | w[i + 1] << 8 | w[i + 2] << 16) + (((w[i + 3] ^ 128) - 128) << 24)


def items_sum(x, p, first):
    """S of the position whose items start at first."""
    if p[14]:
        return word(x, first - 4)
    total, end = 0, first + p[2]
    while first < end:
        total += x[first]
        first += 1
    return total


def row_sum(x, w, p, first, m):
    tiled = p[4] & -4
    kp = p[2]
    if m < tiled:
        return _dot(x, w, first, p[0] + (m & -4) * kp + (m & 3) * 4, kp >> 2, 16)
    return _dot(x, w, first, p[0] + m * kp, kp >> 2, 4)


def _dot(x, w, i, j, n, step):
    total = 0
    while n:
        total += x[i] * w[j] + x[i + 1] * w[j + 1] + x[i + 2] * w[j + 2] + x[i + 3] * w[j + 3]
        i += 4
        j += step
        n -= 1
    return total


def scaled(v, table, i):
    return requantized(v + word(table, i), table, i + 4)


def requantized(v, w, i):
    """v times the scale of the word at byte i of w, rounded to even."""
    f = w[i] & 63
    if f > 31:
        v >>= f - 32
        f = 0
    limit = _LIMIT >> f
    v = min(max(v, -limit), limit) << f
    m1, m0 = w[i + 3] << 4 | w[i + 2] >> 4, (w[i + 2] & 15) << 8 | w[i + 1]
    low = (v & 4095) * m1 + ((v & 4095) * m0 >> 12) + 2048
    v >>= 12
    v = v * m1 + (v * m0 + low >> 12)
    return v + 32767 + (v >> 16 & 1) >> 16
