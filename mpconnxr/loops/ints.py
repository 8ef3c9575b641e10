"""Integers of 32 bits, modulo 2**32, and truth values.

x, w and out hold rows as in loops/add, except for not8 and one_hot32. Words that may exceed a
small integer are written to out as two halves, which are computed separately.
"""

from ._hints import inline
from ._words import _OUT_START, _W_START, _X_START, all_but_sign, pairs
from .one_hot import _CLASSES, _END, _INNER, _START

# Parameters of sum32, product32, quotient32, larger32, compare32, truth8: as _words.pairs
# Parameters of sum32
_IS_DIFFERENCE = const(9)  # subtract w instead of adding it [flag] 0, 1

# Parameters of quotient32
_OPERATION = const(9)  # 0 quotient, 1, 2 remainder; + 4: unsigned [code] 0, 1, 2, 4, 5, 6

# Parameters of larger32
_IS_MINIMUM = const(9)  # take the smaller, not the larger [flag] 0, 1

# Parameters of compare32
_RELATIONS = const(9)  # relations that give 1: 1 less + 2 equal + 4 greater [mask] 0..7

# Parameters of truth8
_TRUE_COUNTS = const(9)  # bit n: result for n nonzero operands [mask] 0..7

# Parameters of not8: as relu.relu32
# Parameters of one_hot32: as one_hot.one_hot


@inline
def compared(x, i, w, j):
    """Return 1, 2 or 4 if x[i] is less than, equal to or greater than w[j].

    Also return their lower halves, a and b. Temporaries: low, high.
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
    """Write x + w, or x - w.

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
    """Write x * w.

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
    """Write x / w truncated (0), its remainder (1), or the remainder with the sign of w (2).

    Division by 0 gives 0 in all cases.

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
            # divide half of a first: twice its remainder is less than 2 * b
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
    """Write the larger or the smaller of x and w.

    Access:
        x_last = x_start + (rows - 1) * x_row_stride + (columns - 1) * x_stride
        w_last = w_start + (rows - 1) * w_row_stride + (columns - 1) * w_stride
        reads x[x_start : x_last + 1] if rows and columns
        reads w[w_start : w_last + 1] if rows and columns
        writes out[out_start : out_start + rows * columns]
    """
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    expected = 1 if p[_IS_MINIMUM] else 4
    for i, j, k, end, last in pairs(i, j, k, p):
        order, a, b, low, high = compared(x, i, w, j)
        a = w[j]
        if order == expected:
            a = x[i]
        out[k] = a


def compare32(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """Write 1 where one of the relations holds between x and w, else 0.

    Access: as larger32
    """
    i, j, k = p[_X_START], p[_W_START], p[_OUT_START]
    for i, j, k, end, last in pairs(i, j, k, p):
        order, a, b, low, high = compared(x, i, w, j)
        out[k] = 1 if order & p[_RELATIONS] else 0


def truth8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Write 1 where true_counts has the bit of the number of nonzero operands, else 0.

    Access: as larger32
    """
    i, j, k, counts = p[_X_START], p[_W_START], p[_OUT_START], p[_TRUE_COUNTS]
    for i, j, k, end, last in pairs(i, j, k, p):
        n = 1 if x[i] else 0
        if w[j]:
            n += 1
        out[k] = (counts >> n) & 1


def not8(x: ptr8, w: ptr8, out: ptr8, p: ptr32):
    """Write 1 where a byte is 0, else 0.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    for i in range(p[_START], p[_END]):
        out[i] = 0 if x[i] else 1


def one_hot32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute loops/one_hot for indices and values of one word.

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
