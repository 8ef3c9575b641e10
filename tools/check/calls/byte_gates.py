"""Random calls of loops/byte_gates: see on_board_loops."""

from array import array


def _scale(d):
    """A float of any sign and size, or 0; most are below 1."""
    if d.below(9) == 0:
        return d.word() if d.below(2) else 0
    bits = d.between(100, 130) << 23 | d.below(4096) << 11 | d.below(2048)
    return bits - (1 << 31) if d.below(2) else bits


def _sum(d):
    return d.between(-(1 << 28), 1 << 28) >> d.below(20)


def arguments(d):
    n, at = d.between(1, 6), d.below(4)
    w = [_scale(d) for _ in range(2 * n)]
    for i in range(2 * n):
        if i % n and d.below(2):
            w[i] = w[i - 1]
    w += [_sum(d) for _ in range(n)] + [0 if d.below(3) else d.below(64) for _ in range(n)]
    out = [77] * at + [_sum(d) for _ in range(2 * n)] + [77]
    x = [77, _scale(d), _scale(d)]
    first = d.below(2)
    return array("i", x), array("i", w), array("i", out), [at, n, 1 + first, 2 - first]
