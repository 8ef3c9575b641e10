"""Integers of 32 bits, modulo 2**32, and truth values. Written once, in the common subset.

x, w and out hold rows as loops/add has them, but for not8 and one_hot32. Words that may not fit a
small integer come to out as two halves, which are computed apart.
"""

from ._hints import inline
from ._words import _OUT_START, _W_START, _X_START, all_but_sign, pairs
from .one_hot import _CLASSES, _END, _INNER, _START

# Parameters of sum32, product32, quotient32, larger32, compare32, truth8: as _words.pairs
# Parameters of sum32
_IS_DIFFERENCE = const(9)  # w is subtracted, not added [flag] 0, 1

# Parameters of quotient32
_OPERATION = const(9)  # 0 quotient, 1, 2 rest; + 4: without signs [code] 0, 1, 2, 4, 5, 6

# Parameters of larger32
_IS_MINIMUM = const(9)  # the smaller one is wanted, not the larger [flag] 0, 1

# Parameters of compare32
_RELATIONS = const(9)  # those that count: 1 less + 2 equal + 4 greater [mask] 0..7

# Parameters of truth8
_TRUE_COUNTS = const(9)  # bit n: two operands of which n are true make it true [mask] 0..7

# Parameters of not8: as relu.relu32
# Parameters of one_hot32: as one_hot.one_hot


@inline
def compared(x, i, w, j):
    """Return 1, 2 or 4: x[i] is less than w[j], equal or greater; a, b: their lower halves.

    low, high: room.
    """
    a, high, b, low = x[i], (x[i] >> 16) & 65535, w[j], (w[j] >> 16) & 65535
    a, b, high, low = a & 65535, b & 65535, high ^ 32768, low ^ 32768
    if high == low:
        high, low = a, b
    order = 2
    if high < low:
        order = 1
    if high > low:
        order = 4
    return order, a, b, low, high


def sum32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """Put x + w, or x - w.

    Access:
        x_last = x_start + (rows - 1) * x_row_stride + (columns - 1) * x_stride
        w_last = w_start + (rows - 1) * w_row_stride + (columns - 1) * w_stride
        reads x[x_start : x_last + 1] if rows and columns
        reads w[w_start : w_last + 1] if rows and columns
        writes out[2 * out_start : 2 * (out_start + rows * columns)]
    """
    flip = 0xFFFF if p[_IS_DIFFERENCE] else 0
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i], w[j]
        low = (a & 0xFFFF) + ((b & 0xFFFF) ^ flip) + p[_IS_DIFFERENCE]
        high = ((a >> 16) & 0xFFFF) + (((b >> 16) & 0xFFFF) ^ flip) + (low >> 16)
        out[2 * k] = low & 0xFFFF
        out[2 * k + 1] = high & 0xFFFF


def product32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """Put x * w.

    Access: as sum32
    """
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i], w[j]
        low = (a & 0xFFFF) * (b & 0xFFFF)
        high = (a & 0xFFFF) * ((b >> 16) & 0xFFFF) & 0xFFFF
        high += ((a >> 16) & 0xFFFF) * (b & 0xFFFF) & 0xFFFF
        high += (low >> 16) & 0xFFFF
        out[2 * k] = low & 0xFFFF
        out[2 * k + 1] = high & 0xFFFF


def quotient32(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """Put x / w cut towards 0, or what that leaves (1), or that with the sign of w (2).

    By 0 all of them are 0.

    Access: as sum32
    """
    mask = all_but_sign()
    operation, is_signed = p[_OPERATION] & 3, 1 - (p[_OPERATION] >> 2)
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    for i, j, k, end, last in pairs(i, j, k, p):
        a, b = x[i], w[j]
        sign, sign_of_b = (a >> 31) & is_signed, (b >> 31) & is_signed
        if sign:
            a = 0 - a
        if sign_of_b:
            b = 0 - b
        half, rest = (a >> 1) & mask, a
        v = 0
        if (b >> 31) & 1:
            if (a >> 31) & 1 and a & mask >= b & mask:
                v, rest = 1, a - b
        elif b & mask:
            # a half first: what it leaves, twice, is less than 2 * b
            b = b & mask
            v = half // b
            rest = half - v * b
            rest = rest - b + rest + (a & 1)
            v += v
            if rest < 0:
                rest += b
            else:
                v += 1
        else:
            rest = 0
        if operation:
            v = rest
            if operation == 2 and sign != sign_of_b:
                if v:
                    v = b - v
                sign = sign_of_b
        elif sign_of_b:
            sign = 1 - sign
        if sign:
            v = 0 - v
        out[2 * k] = v & 0xFFFF
        out[2 * k + 1] = (v >> 16) & 0xFFFF


def larger32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Put the larger of x and w, or the smaller one.

    Access:
        x_last = x_start + (rows - 1) * x_row_stride + (columns - 1) * x_stride
        w_last = w_start + (rows - 1) * w_row_stride + (columns - 1) * w_stride
        reads x[x_start : x_last + 1] if rows and columns
        reads w[w_start : w_last + 1] if rows and columns
        writes out[out_start : out_start + rows * columns]
    """
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    wanted = 1 if p[_IS_MINIMUM] else 4
    for i, j, k, end, last in pairs(i, j, k, p):
        order, a, b, low, high = compared(x, i, w, j)
        a = w[j]
        if order == wanted:
            a = x[i]
        out[k] = a


def compare32(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """Put 1 where a relation holds of x and w, else 0.

    Access: as larger32
    """
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    for i, j, k, end, last in pairs(i, j, k, p):
        order, a, b, low, high = compared(x, i, w, j)
        out[k] = 1 if order & p[_RELATIONS] else 0


def truth8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Put 1 where so many of two bytes are not 0 as true_counts names, else 0.

    Access: as larger32
    """
    i, j, k, counts = p[_X_START], p[_W_START], p[_OUT_START], p[_TRUE_COUNTS]
    for i, j, k, end, last in pairs(i, j, k, p):
        n = 1 if x[i] else 0
        if w[j]:
            n += 1
        out[k] = (counts >> n) & 1


def not8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Put 1 where a byte is 0, else 0.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    for i in range(p[_START], p[_END]):
        out[i] = 0 if x[i] else 1


def one_hot32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Do what loops/one_hot does, with indices and values that are words.

    Access:
        reads x[start // classes * inner : ((end - 1) // classes + 1) * inner] if start < end
        reads w[0 : 2] if start < end
        writes out[start * inner : end * inner]
    """
    classes, inner = p[_CLASSES], p[_INNER]
    k = p[_START] * inner
    for row in range(p[_START], p[_END]):
        i, index = row // classes * inner, row % classes
        for column in range(inner):
            v = x[i]
            if (v >> 31) & 1:
                v = v + classes
            v = (v ^ index) & 0x3FFFFFFF | ((v ^ index) >> 30) & 3
            n = w[0]
            if v == 0:
                n = w[1]
            out[k] = n
            i += 1
            k += 1
