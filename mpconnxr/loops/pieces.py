"""The pieces of a convolution, by calls of other loops. Written once, for Python and viper.

A piece is some positions of a group (locate), or some rows of some planes (locate_planes): what
one call of the loops computes. Bytecode takes longer to find its place, and to make these calls,
than many a call computes.

    x    words: number of the piece, then what follows below
    out  the block of loops/patches or loops/planes;  p  that of loops/qdot or loops/depthwise

locate         pieces a group, positions a piece, positions, groups, batch and group strides of x,
               the same of out, first weights, weights and table bytes a group, first of the table
locate_planes  pieces a batch, pieces a plane, planes a piece, planes, rows a piece, rows, batch
               stride and first byte of x, batch stride of out, rows of x that a window covers,
               stride of y, BIAS - padding of y, first weights, first of the table
pieces         that x, with the end of the pieces in word 15
zero_point     x is a byte then, which becomes the zero point of both blocks
"""

from ._words import set_at


def pieces(p: ptr32, w):
    """w: loops: locate, what gathers x, what computes; p, the blocks of the last two; x, where it
    is gathered, weights, out

    Access: of the loops it calls
    """
    locate, gather, compute, places, gather_p = w[:5]
    compute_p, x, gathered, weights, out, i = w[5], w[6], w[7], w[8], w[9], 0
    while p[0] < p[15]:
        locate(places, places, gather_p, compute_p)
        gather(x, x, gathered, gather_p)
        compute(gathered, weights, out, compute_p)
        p[i] = p[0] + 1


def zero_point(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    """
    Access:
        reads x[0:1]
        reads out[18:19]
        writes out[19:20]
        writes p[9:10]
    """
    v = x[0] ^ out[18]
    i = set_at(out, 19, v)
    i = set_at(p, 9, v)


def locate(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[0 : 13]
        reads out[15 : 16]
        writes out[0 : 1]
        writes out[16 : 18]
        writes out[20 : 21]
        writes p[0 : 2]
        writes p[3 : 4]
        writes p[5 : 6]
    """
    at, first = x[0] // x[1], x[0] % x[1] * x[2]
    group, batch = at % x[4], at // x[4]
    n = min(x[3] - first, x[2])
    i = set_at(out, 0, batch * x[5] + group * x[6])
    p[i] = x[9] + group * x[10]
    p[i + 1] = x[12] + group * x[11]
    p[i + 3] = n
    p[i + 5] = batch * x[7] + group * x[8] + first * p[6]
    i = set_at(out, 16, first // out[15])
    out[i + 1] = first % out[15]
    out[i + 4] = n


def locate_planes(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[0 : 15]
        reads out[2 : 3]
        reads out[7 : 8]
        writes out[0 : 2]
        writes out[4 : 5]
        writes out[11 : 12]
        writes p[1 : 3]
        writes p[8 : 9]
        writes p[12 : 15]
    """
    piece, batch = x[0] % x[1], x[0] // x[1]
    plane, row = piece // x[2] * x[3], piece % x[2] * x[5]
    planes = min(x[4] - plane, x[3])
    rows = min(x[6] - row, x[5])
    covered = rows * x[11] + x[10] - x[11]
    i = set_at(out, 0, batch * x[7] + plane * out[2] + x[8])
    out[i + 1] = planes
    out[i + 4] = covered
    p[i + 1] = covered * out[7]
    p[i + 2] = planes
    p[i + 8] = rows
    i = set_at(out, 11, x[12] + row * x[11])
    p[i + 1] = x[14] + plane * 8 * p[3]
    p[i + 2] = x[13] + plane * p[3] * p[4] * p[5]
    p[i + 3] = batch * x[9] + plane * p[3] * p[15] + row * p[9] * p[16]
