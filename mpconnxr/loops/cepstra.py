"""Cepstral coefficients in integers: a cosine transform of logarithms. See mpconnxr.io.mfcc.

    out[k] = sum over b of x[b] * cos(pi * k * (2 * b + 1) / (2 * bands)), scaled by the table

x holds logarithms of the bands, from 0 to 2**14 - 1. w holds 2**14 plus the scaled cosines (below
2**14 in magnitude) of a whole period, 4 * bands of them; then that of coefficient 0, which has its
own scale. out gets int32, one for each coefficient.
"""

# Parameters of cepstra
_BANDS = const(0)  # [bands] 1..
_COEFFICIENTS = const(1)  # [elements] 1..
_SHIFT = const(2)  # right shift of a product, to 12 fraction bits of out [bits] 3..8


def cepstra(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """Compute the first coefficients, rounded.

    Access:
        requires coefficients <= 2 * bands + 1
        reads x[0 : bands]
        reads w[0 : 4 * bands + 1]
        writes out[0 : coefficients]
        given 0 <= x[0 : bands] < 1 << 14
        given w[0 : 4 * bands + 1] <= 1 << 15
    """
    bands = p[_BANDS]
    for k in range(p[_COEFFICIENTS]):
        total = (1 << 11) + (bands >> 1)  # half of a unit, and what the shifts truncated
        turn, i = 4 * bands, k
        if k == 0:
            i, turn = turn, 0
        for b in range(bands):
            total += x[b] * (w[i] - 16384) >> p[_SHIFT]
            i += k + k
            if i >= 4 * bands:
                i -= turn
        out[k] = total >> 12
