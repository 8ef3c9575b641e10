"""Random calls of loops/mix (see draw.py): the weights of a sum add up to less than 4."""

from array import array


def _near(d, n, least):
    """Draw the bits of n floats with similar exponents from `least` on, some negative or zero."""
    words = [(v & 0x7FFFFF) | ((least + d.below(9)) << 23) for v in d.words(n)]
    return array("i", [[v, v - 0x7FFFFFFF - 1, 0][d.below(5) >> 1] for v in words])


def mix32(d):
    n_in, inner, n_out, taps = d.between(3, 6), d.between(1, 3), d.between(1, 4), d.between(1, 3)
    n = 2 * n_in * inner
    x = _near(d, n, 100) if d.below(3) else d.words(n)
    firsts = [d.below(n_in - taps + 1) for _ in range(n_out)]
    p = [d.below(2), 2 * n_out, n_in, inner, n_out, taps] + firsts
    return x, _near(d, n_out * taps, 117), d.blank("i", 2 * n_out * inner + 1), p
