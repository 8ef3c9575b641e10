"""Dot products of bytes with requantization: the loops under qconv. Plain form.

    x    Kp items a position, those of the first from p[12] on, of the next ones p[13] bytes behind
         one another; where p[14] is 1 the 4 bytes before each hold the sum S of its items
    w    from p[1] on, two words for each of M channels (below); from p[0] on, rows of Kp weights:
         four channels at a time, interleaved by four items ([Kp / 4][4 rows][4 items]), then the
         rows of the up to three channels that are left, one after another
    out  bytes; position i, channel m: item p[5] + i * p[6] + m * p[7]
    p    w first, table first, Kp, positions, M, out first, position stride, channel stride, zw,
         zy, lo, hi (zero point and range of out, BIAS + each), three for x, see there, 1 where the
         table lies in x, not in w, and a room

    sum[m] = sum_k(x[k] * w[m, k]) - zw * S

p[16], if not 0: a multiple of 4, from where x has (N + N % 2) * (2 * Kp + 4) + 8 * Kp bytes that a
form may write, not before the items of the third position: of those behind it, too, which it then
no longer needs. p[14] is 1 then, p[13] Kp + 4, and positions, table and rows lie at multiples of
4.

qdots8_many is the same for positions with their sums, side by side (p[13] is Kp + 4), in a form
that is quicker for several.
Both add c and multiply by a scale, a positive number. A channel's first word holds f in bits 0-4
and c, signed, in bits 5-31; its second one M, 2**30 to 2**31, or less where f is 0 or 31. scale
= M * 2**(f - 47) if f < 26, else M * 2**(-22 - f).

    a = sum + c, shifted to the left by f; or c + sum shifted to the right by f - 25; limited to
        -2**25 .. 2**25
    q = a * M / 2**47, rounded to even from the middle: a product of 57 bits, all of which count
    out = q + zy, limited to lo .. hi

The converter finds an M with which each sum comes out as the real scale says:
docs/quantization.md. No intermediate value here exceeds 31 bits. The caller keeps Kp a multiple
of 4 and Kp * 255 * 255 below 2**31, positions and M above 0.
"""

BIAS = 1 << 29
_LIMIT = 1 << 25
_MOST_LEFT = 25


def qdots8(x, w, out, p):
    """
    Access:
        kp, n, m = p[2:5]
        requires kp % 4 == 0 and n and m
        requires not p[16] or p[14] and p[13] == kp + 4 and p[16] >= p[12] - 4 + 2 * p[13]
        reads x as uint8[p[12] - (4 if p[14] else 0) : p[12] + (n - 1) * p[13] + kp]
        writes x as uint8[p[16] : p[16] + (n + n % 2) * (2 * kp + 4) + 8 * kp] if p[16]
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
    """v plus c, times the scale of the channel at byte i of the table, rounded to even."""
    c, f = word(table, i) >> 5, table[i] & 31
    if f > _MOST_LEFT:
        v >>= f - _MOST_LEFT
        f = 0
    v += c
    limit = _LIMIT >> f
    v = min(max(v, -limit), limit) << f
    m1 = table[i + 7] << 9 | table[i + 6] << 1 | table[i + 5] >> 7
    m0 = (table[i + 5] & 127) << 8 | table[i + 4]
    lowest = (v & 4095) * m0
    low = (v >> 12) * m0 + (lowest >> 12)
    middle = (v & 4095) * m1 + (low >> 3)
    v = (v >> 12) * m1 + (middle >> 12)
    is_more = (lowest | middle) & 4095 or low & 7
    return v + 524287 + (1 if is_more else v >> 20 & 1) >> 20
