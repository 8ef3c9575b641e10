"""Matrices of bytes as the weights of loops/qdot. Written once, for Python and viper.

x    bytes; item (g, k, m) of matrix g, row k and column m at g * p[4] + k * p[5] + m * p[6]; + 128
     where p[7] is 128 (flip)
out  words as loops/qdot has them: two for each column of all matrices, then from p[13] on the
     rows of each matrix, which are its columns, of K bytes and zeros up to a multiple of 4
p    lo, hi (range of matrices), K, M (columns of a matrix), strides, flip, zx, zw, shift of the
     first word, what it has beside c, second word or 0, first word of the rows

c = zx * (K * zw - sum of the column); the first word is (c << p[10]) + p[11], the second p[12], or
K * zw - sum if that is 0. |c| << p[10] stays below 2**31.
"""

from ._hints import inline


@inline
def add_item(total, x, i, flip, p):
    """Return total with the next item of a column, the place behind it, and the item, flipped."""
    v = x[i] ^ flip
    total -= v
    i += p[5]
    return total, i, v


def columns(x: ptr8, w: ptr8, out: ptr32, p: ptr32):
    """
    Access:
        lo, hi, k, m, xg, xk, xm = p[0:7]
        words = (k + 3) // 4 * m
        requires lo < hi and k and m
        reads x[lo * xg : (hi - 1) * xg + (k - 1) * xk + (m - 1) * xm + 1]
        writes out[2 * lo * m : 2 * hi * m]
        writes out[p[13] + lo * words : p[13] + hi * words]
    """
    whole, words, flip = p[2] >> 2, (p[2] + 3) >> 2, p[7]
    for g in range(p[0], p[1]):
        first, table, row = g * p[4], 2 * g * p[3], p[13] + g * p[3] * words
        of_tile, left = 0, p[3]
        while left:
            turns = 4 if left > 3 or of_tile else 1
            i, o, total = first, row, p[2] * p[9]
            for n in range(whole, 0, -1):
                total, i, v = add_item(total, x, i, flip, p)
                word = v
                total, i, v = add_item(total, x, i, flip, p)
                word = word | (v << 8)
                total, i, v = add_item(total, x, i, flip, p)
                word = word | (v << 16)
                total, i, v = add_item(total, x, i, flip, p)
                out[o] = word + (((v ^ 128) - 128) << 24)
                o += turns
            if whole < words:
                word, n = 0, 0
                for k in range(p[2] & 3):
                    total, i, v = add_item(total, x, i, flip, p)
                    word = word | (v << n)
                    n += 8
                out[o] = word
            out[table] = ((total * p[8]) << p[10]) + p[11]
            table += 1
            out[table] = p[12] if p[12] else total
            table += 1
            first += p[6]
            left -= 1
            row += 1
            if turns == 1:
                row += words - 1
            else:
                of_tile += 1
                if of_tile == 4:
                    of_tile = 0
                    row += 4 * words - 4
