"""Random calls of loops/block_finish (see draw.py).

Sums near middles between floats, and rare results.
"""

from array import array

_BIAS = 1 << 29
_INF = 0x7F800000


def _wide(d, bits):
    """Draw a number of up to `bits` bits, often of few."""
    return (d.word() & (1 << bits) - 1) >> d.below(2) * d.below(bits)


def _signed(d, bits):
    """Draw a signed number of up to `bits` bits, 62 at most."""
    n = ((d.word() & 0x7FFFFFFF) << 31 | d.word() & 0x7FFFFFFF) >> 62 - bits
    return (n >> d.below(2) * d.below(bits)) * (1 - 2 * d.below(2))


def _sums(d, m):
    """Draw limbs of sum(x) + 2**40 and of m sums of products, as loops/block_dot makes them."""
    x = (1 << 40) + _signed(d, 39)
    sums = [x] + [(x << 23) + _signed(d, 62) for _ in range(m)]
    return [(v >> shift) & 0xFFFFFF for v in sums for shift in (0, 24, 48)]


def _limits(d):
    """Draw sign and magnitude of the least and the greatest float."""
    kind = d.below(3)
    return ([1, _INF, 0, _INF], [0, 0, 0, _INF], [1, 0x3F800000, 0, 0x40C00000])[kind]


def finish(d):
    positions, rows, m, more = d.between(1, 3), d.between(1, 2), d.between(1, 4), d.below(2)
    first, w_first, out_first = d.below(4), d.below(4), d.below(4)
    x, w = array("i", [0] * first), array("i", [0] * w_first)
    are_sums = d.below(3)  # 0: any limbs; 2: exponents without rare results too
    for _ in range((positions + more) * rows):
        limbs = [_wide(d, 24 - 8 * (i % 3 == 2)) for i in range(3 * (m + 1))]
        x.extend(array("i", _sums(d, m) if are_sums else limbs))
    for _ in range(m):
        limb = _BIAS + _wide(d, 12 if are_sums else 20) * (1 - 2 * d.below(2))
        limbs = [_wide(d, 24), _wide(d, 24), limb]
        exponent = d.between(180, 280) if are_sums == 2 else d.below(509)
        if d.below(6) == 0:  # a large bias: 24 bits above bit 52
            sign = 1 - 2 * d.below(2)
            limbs = [0, 0, _BIAS + ((1 << 23 | d.word() & 0x7FFFFF) << 4) * sign]
            exponent += 1024 * d.between(1, 12)
        w.extend(array("i", limbs + [exponent]))
    out = d.words(out_first + positions * rows * m)
    p = [first, positions, m, w_first, out_first, m, 1, positions * m, rows, more] + _limits(d)
    return x, w, out, p + [d.below(2)]
