"""Random calls of loops_qbinary: see loop_forms."""

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
    x, w, out, p = _walk(d)
    p += [d.word() & 0x7FFFF, d.word() & 0x7FFFF, _BIAS + (d.word() >> 4)]
    return x, w, out, p + [d.below(1024), d.below(1024), d.below(1024), d.below(5), d.below(256)]


def qmul8(d):
    x, w, out, p = _walk(d)
    f = d.below(25)
    p += [d.below(256), d.below(256), 1 << 25 >> f, f]
    return x, w, out, p + [2048 + d.below(2048), d.below(4096), d.below(256)]
