"""Rotation of pairs with inf or NaN, in Python floats; allocates. Plain form."""

from .block_special import bits_of, float_of
from .rotary import (
    _HEADS,
    _LINE,
    _LINE_END,
    _OUT_BATCH_STRIDE,
    _OUT_HEAD_STRIDE,
    _OUT_ROW_STRIDE,
    _PAIR_STRIDE,
    _PAIRS,
    _PARTNER_STRIDE,
    _ROWS,
    _SINE_STRIDE,
    _W_BATCH_STRIDE,
    _W_ROW_STRIDE,
    _X_BATCH_STRIDE,
    _X_HEAD_STRIDE,
    _X_ROW_STRIDE,
)

# Parameters of turn: as rotary.turn


def turn(p, w):
    """Rotate all pairs of the lines. w as for finite of loops/rotary.

    Access: of the loops in whose place it is called
    """
    x, angles, out = w[2], w[3], w[4]
    for line in range(p[_LINE], p[_LINE_END]):
        head, row = line // p[_ROWS] % p[_HEADS], line % p[_ROWS]
        batch = line // p[_ROWS] // p[_HEADS]
        first = batch * p[_X_BATCH_STRIDE] + head * p[_X_HEAD_STRIDE] + row * p[_X_ROW_STRIDE]
        at = batch * p[_OUT_BATCH_STRIDE] + head * p[_OUT_HEAD_STRIDE] + row * p[_OUT_ROW_STRIDE]
        angle = batch * p[_W_BATCH_STRIDE] + row * p[_W_ROW_STRIDE]
        for pair in range(p[_PAIRS]):
            i, j = pair * p[_PAIR_STRIDE], pair * p[_PAIR_STRIDE] + p[_PARTNER_STRIDE]
            a, b = float_of(x[first + i]), float_of(x[first + j])
            c, s = float_of(angles[angle + pair]), float_of(angles[angle + pair + p[_SINE_STRIDE]])
            out[at + i] = bits_of(a * c - b * s)
            out[at + j] = bits_of(a * s + b * c)
