"""Random calls of loops/qbinary: see on_board_loops."""

_BIAS = 1 << 29


def _walk(d):
    """(x, w, out, p) with the numbers of a walk."""
    rows, n = d.between(1, 4), d.between(1, 7)
    steps, other = d.below(3), d.below(3)
    first, row, other_first, other_row = d.below(4), d.below(9), d.below(4), d.below(9)
    out_first = d.below(3)
    x = d.octets(first + row * rows + steps * n + 1)
    w = d.octets(other_first + other_row * rows + other * n + 1)
    p = [first, row, steps, other_first, other_row, other, out_first, rows, n, d.below(2) * 128]
    return x, w, d.blank("B", out_first + rows * n + 1), p


def qadd8(d):
    """Every other time the first sum is close to the middle between two steps."""
    x, w, out, p = _walk(d)
    a, b, constant, bits = d.word() & 0x7FFFF, d.word() & 0x7FFFF, d.word() >> 4, d.between(16, 20)
    if d.below(2):
        total = (x[p[0]] ^ p[9]) * a + (w[p[3]] ^ p[9]) * b + constant
        constant -= (total + (1 << bits - 1) + d.below(1400) - 800) % (1 << bits)
    p += [a, b, _BIAS + constant]
    return x, w, out, p + [d.below(1024), d.below(1024), d.below(1024), bits, d.below(256)]


def qmul8(d):
    x, w, out, p = _walk(d)
    f = d.below(25)
    p += [d.below(256), d.below(256), 1 << 25 >> f, f]
    return x, w, out, p + [1 << 15 | d.below(1 << 15), d.below(1 << 15), d.below(256)]
