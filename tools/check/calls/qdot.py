"""Random calls of loops/qdot (see draw.py).

A table of bytes holds words with shifts and multipliers, and sums lie before the elements.
"""

import struct

_BIAS = 1 << 29


def channel_words(d, n):
    """Draw the table of n channels, often with multipliers that put results halfway."""
    words = bytearray()
    if d.below(2):
        return b"".join([_typical_words(d) for _ in range(n)])
    for _ in range(n):
        f = d.below(26) * (d.below(6) > 0) if d.below(2) else d.between(26, 31)
        c = d.word() >> d.between(max(5, f - 19), 20) << 5
        m = (1 << 30 | d.word() & 0x3FFFFFFF) >> (d.below(3) * d.below(12) if f in (0, 31) else 0)
        zeros = d.below(31)
        words += struct.pack("<iI", c | f, m >> zeros << zeros)
    return words


def _typical_words(d):
    """Draw a typical channel: M is odd, sums and c have no more bits than f allows."""
    c = d.word() >> d.between(8, 20) << 5
    return struct.pack("<iI", c | d.between(4, 9), 1 << 30 | d.word() & 0x3FFFFFFF | 1)


def words_of_sums(d, n, second):
    """Draw the table of n channels without multipliers: int32 c, and a word by second(d)."""
    pairs = [(d.word() >> d.between(2, 20), second(d)) for _ in range(n)]
    return b"".join(struct.pack("<iI", *pair) for pair in pairs)


def dots(d, kind, second=None, has_sum=None):
    """Draw x, w, out and p of a call, without the limits of the outputs; also three sizes of x.

    Args:
        d: draws numbers.
        kind: struct code of the outputs.
        second: draws the second word of a channel.
        has_sum: rows of x are preceded by their sum; None for either.
    """
    kp, n, m = 4 * d.between(1, 19), d.between(1, 9), d.between(1, 9)
    m = m + 3 & -4 if d.below(2) else m
    x = bytearray()
    has_sum = d.below(2) if has_sum is None else has_sum
    gap = 4 if has_sum else 4 * d.below(3)
    for _ in range(n):
        elements = d.octets(kp)
        x += (struct.pack("<i", sum(elements)) if has_sum else d.octets(gap)) + elements
    table, between = 4 * d.below(3), d.below(5) * d.below(2)
    w = bytearray(table) + (words_of_sums(d, m, second) if second else channel_words(d, m))
    first = len(w) + between
    w += d.octets(between + kp * m)
    at, strides = d.below(3), [m + 1, 1] if d.below(2) else [1, n + 2]
    out = d.blank(kind, at + (n - 1) * strides[0] + (m - 1) * strides[1] + 2)
    p = [first, table, kp, n, m, at] + strides + [d.below(256)]
    return x, w, out, p, [gap, kp + gap, has_sum]


def limits_of_out(d):
    """Draw BIAS + zero point, least and greatest value of bytes; often the whole range."""
    least = -128 * d.below(2)
    low = d.below(256) * d.below(2)
    span = d.below(256 - low) if d.below(2) else 255 - low
    return [_BIAS + least + v for v in (d.below(256), low, low + span)]


def qdots8(d):
    return _qdots8(d)


def qdots8_many(d):
    return _qdots8(d, 1)


def _qdots8(d, has_sum=None):
    x, w, out, p, of_x = dots(d, "B", has_sum=has_sum)
    limits = limits_of_out(d)
    room, kp, n = 0, p[2], p[3]
    if of_x[2] and p[0] % 4 == 0:
        room = of_x[0] - 4 + 2 * of_x[1] + 4 * d.below(3)
        x += bytearray(max(room + (n + n % 2) * (2 * kp + 4) + 8 * kp - len(x), 0))
    if d.below(2):
        return x, w, out, p + limits + of_x + [0, room]
    size = 8 * p[4]
    x += w[p[1] : p[1] + size]
    p[1] = len(x) - size
    return x, w, out, p + limits + of_x + [1, room]
