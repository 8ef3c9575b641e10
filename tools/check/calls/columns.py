"""Random calls of loops/columns: see on_board_loops."""


def columns(d):
    g, k, m = d.between(1, 3), d.between(1, 11), d.between(1, 9)
    xg, xk, xm = [(k * m, m, 1), (k * m, 1, k), (k, k * g, 1 + k * g * k)][d.below(3)]
    lo, flip, up = d.below(g), 128 * d.below(2), 5 * d.below(2)
    p = [lo, d.between(lo + 1, g), k, m, xg, xk, xm, flip, d.below(256), d.below(256), up]
    p += [d.below(26), (1 << 30) + d.below(1 << 30)] if up else [0, 0]
    x = d.octets((g - 1) * xg + (k - 1) * xk + (m - 1) * xm + 1)
    return x, x, d.blank("i", g * m * (2 + (k + 3) // 4) + 1), p + [2 * g * m]
