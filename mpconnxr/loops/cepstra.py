"""Cepstral coefficients in integers: a cosine transform of logarithms. Written once, in the common
subset of Python and viper; mpconnxr.mfcc says what it is for.

    out[k] = sum over b of logs[b] * cos(pi * k * (2 * b + 1) / (2 * bands)), scaled by the table
"""


def cepstra(x: ptr32, w: ptr16, out: ptr32, p: ptr32):
    """The first coefficients, rounded.

    x    logarithms of the bands, from 0 to 2**14 - 1
    w    2**14 plus (below 2**14) the scaled cosines of a whole turn, 4 * bands of them; then that
         of coefficient 0, which has a scale of its own
    out  int32, a number for each coefficient
    p    bands, coefficients, by how many bits a product is shifted to 12 below the result's point

    Access:
        requires p[1] <= 2 * p[0] + 1
        reads x[0 : p[0]] if p[1]
        reads w[0 : 4 * p[0] + 1] if p[0] and p[1]
        writes out[0 : p[1]]
    """
    bands = p[0]
    for k in range(p[1]):
        total = (1 << 11) + (bands >> 1)  # half of a unit, and what the shifts cut off
        turn, i = 4 * bands, k
        if k == 0:
            i, turn = turn, 0
        for b in range(bands):
            total += x[b] * (w[i] - 16384) >> p[2]
            i += k + k
            if i >= 4 * bands:
                i -= turn
        out[k] = total >> 12
