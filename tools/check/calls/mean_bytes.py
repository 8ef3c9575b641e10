"""Random calls of loops/mean_bytes: see on_board_loops."""

from array import array


def bytes_of(d):
    below, n = d.below(256), d.between(1, 9)
    least = d.between(80, 140) << 23
    levels = sorted([least - (8 << 23) + (d.word() & 0x5FFFFFF) for _ in range(255)])
    words = [d.below(n) for _ in range(64)] + [d.between(1 << 23, 1 << 24) for _ in range(64)]
    words += [2 * ((least >> 23) + d.below(4)) + d.below(2) for _ in range(64)]
    p = [0, d.below(3), 1] + [0] * 8 + [1, n, 0, 0, 0, 0]
    p += [below, 128 * d.below(2), 0, 0, 0, d.below(9)]
    p += [0] * 6 + [1, 255]
    levels = levels[:below][::-1] + levels[below:]
    return array("i", levels), array("i", words), d.blank("B", n + 3), p


def rounded(d):
    n, nbytes = d.between(1, 9), d.between(1, 2)
    words = [d.below(n) for _ in range(64)]
    words += [0 if d.below(9) == 0 else d.between(1 << 23, 1 << 24) for _ in range(64)]
    words += [d.between(2 * 78, 2 * 172) for _ in range(64)]
    most = (1 << 8 * nbytes) - 1
    p = [0, d.below(3), 1] + [0] * 8 + [1, n, 0, 0, 0]
    p += [(most + 1) // 2 * d.below(2), 0, 0, 0, 0, 0, d.below(9)]
    p += [0, 0, 0, d.between(1 << 23, (1 << 24) - 1), d.between(80, 170), d.below(most + 1)]
    w = array("i", words)
    return w, w, d.blank("B", nbytes * (n + 3)), p + [nbytes, most]
