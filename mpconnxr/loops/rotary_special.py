"""Pairs to turn of which some are inf or nan: with Python's floats, and allocating. Plain form."""

from .block_special import bits_of, float_of


def turn(p, w):
    """p: of loops/rotary's turn; w: of its finite

    Access: of the loops in whose place it is called
    """
    x, angles, out = w[2], w[3], w[4]
    for line in range(p[0], p[1]):
        head, row = line // p[4] % p[3], line % p[4]
        batch = line // p[4] // p[3]
        first = batch * p[7] + head * p[8] + row * p[9]
        at = batch * p[12] + head * p[13] + row * p[14]
        angle = batch * p[15] + row * p[16]
        for pair in range(p[5]):
            i, j = pair * p[11], pair * p[11] + p[10]
            a, b = float_of(x[first + i]), float_of(x[first + j])
            c, s = float_of(angles[angle + pair]), float_of(angles[angle + pair + p[17]])
            out[at + i] = bits_of(a * c - b * s)
            out[at + j] = bits_of(a * s + b * c)
