"""Random calls of loops_block_finish: see loop_forms."""

from array import array

_BIAS = 1 << 29
_INF = 0x7F800000


def _wide(d, bits):
    """A number of up to so many bits, often of few."""
    return (d.word() & (1 << bits) - 1) >> d.below(2) * d.below(bits)


def _limits(d):
    """Sign and magnitude of the least and the greatest float."""
    kind = d.below(3)
    return ([1, _INF, 0, _INF], [0, 0, 0, _INF], [1, 0x3F800000, 0, 0x40C00000])[kind]


def finish(d):
    positions, rows, m, more = d.between(1, 3), d.between(1, 2), d.between(1, 4), d.below(2)
    first, w_first, out_first = d.below(4), d.below(4), d.below(4)
    x, w = array("i", [0] * first), array("i", [0] * w_first)
    for _ in range((positions + more) * rows * (m + 1)):
        x.extend(array("i", [_wide(d, 24), _wide(d, 24), _wide(d, 16)]))
    for _ in range(m):
        limb = _BIAS + _wide(d, 20) * (1 - 2 * d.below(2))
        exponent = d.below(509) + 1024 * (d.below(6) == 0)
        w.extend(array("i", [_wide(d, 24), _wide(d, 24), limb, exponent]))
    out = d.words(out_first + positions * rows * m)
    p = [first, positions, m, w_first, out_first, m, 1, positions * m, rows, more] + _limits(d)
    return x, w, out, p + [d.below(2)]
