"""Random calls of loops/qnormalize (see draw.py).

The bits of the number of columns decide the shifts and the reciprocal; the other parameters are
drawn.
"""

from array import array


def roots8(d):
    rows, n = d.between(1, 4), d.between(1, 40)
    x = d.octets(rows * n)
    spread, least = d.below(8), d.below(128)
    for i in range(len(x)):  # rows with few distinct elements too
        x[i] = least + (x[i] >> spread) & 255
    row = d.below(rows)
    epsilon = 0 if d.below(4) == 0 else (1 << 29) + d.below(1 << 29)
    bits = 0
    while 1 << bits < n:
        bits += 1
    exponent = 980 + d.below(60) if epsilon else 994  # plus 1024; of no effect if epsilon is 0
    row_end, flip, shift = d.between(row + 1, rows), d.below(2) * 128, 15 - bits
    reciprocal, sum_shift, reciprocal_shift = (1 << 15 + bits) // n, 0, 15 + bits
    p = [row, row_end, n, flip, shift, epsilon, exponent]
    p += [bits, reciprocal, sum_shift, reciprocal_shift]
    return x, d.words(2 * n), d.blank("i", 2 * n + 4 * rows + 1), p


def normalized8(d):
    rows, n = d.between(1, 4), d.between(1, 9)
    w = array("i", [v & 0x3FFFFFFF for v in d.words(2 * n)])
    for _ in range(rows):  # the words of a row as roots8 writes them
        deviation = 1 + d.below(64)
        right = 4
        root = (1 << 22) // deviation << 1
        w.append(d.below(256))
        w.append(root)
        w.append((1 << 29) + d.below(1 << 21) - (1 << 20))
        w.append(32 + right)
    flip, point = d.below(2) * 128, d.between(12, 22)
    p = [0, rows, n, flip, point]
    return d.octets(rows * n), w, d.blank("B", rows * n + 1), p
