"""Random calls of loops/averages: see on_board_loops."""

from array import array

BIAS = 1 << 29


def same(d):
    n = d.between(1, 9)
    x = array("i", [d.below(1 << 24) if d.below(9) else d.word()] * n)
    if d.below(3) == 0:
        x[d.below(n)] += 1
    return x, d.octets(1), x, [0, 0, n]


def _place(d):
    h, width, kh, kw = [d.between(1, 6) for _ in range(4)]
    oh, ow, lead = d.between(1, 5), d.between(1, 5), d.below(3)
    p = [d.between(1, (1 << 23) - 1), d.below(256), kh * kw, d.below(oh), d.below(3), h, width]
    p += [kh, kw] + [d.between(1, 3) for _ in range(4)]
    p += [BIAS + d.between(-2, 4) for _ in range(2)] + [ow, lead, ow, 1, d.between(1, 254)]
    return p + [d.below(2)], lead + oh * ow


def columns(d):
    p, _ = _place(d)
    most, x = p[19], array("i", [])
    for v in d.words(p[4] + p[5] * p[6]):
        e = most - (d.below(32) if d.below(9) else d.below(255))
        x.extend(array("i", [(v & 0x807FFFFF) - ((v & (1 << 31)) << 1) | max(e, 0) << 23]))
    return x, x, d.blank("i", p[6]), p


def results(d):
    p, n = _place(d)
    shift = d.below(25)
    x = array("i", [(d.below(1 << 28) - (1 << 27)) // p[8] >> shift for _ in range(p[6])])
    return x, x, d.blank("i", n), p
