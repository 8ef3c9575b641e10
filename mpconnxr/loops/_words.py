"""Helpers of loops for words, and for what viper cannot say in one statement."""

from ._hints import inline, undefined

# Parameters of pairs, rows_of_pairs
_X_START = 0  # [elements] 0..
_X_ROW_STRIDE = 1  # from row to row of x [elements]
_X_STRIDE = 2  # from column to column of x [elements]
_W_START = 3  # [elements] 0..
_W_ROW_STRIDE = 4  # from row to row of w [elements]
_W_STRIDE = 5  # from column to column of w [elements]
_OUT_START = 6  # of out, whose rows lie side by side [elements] 0..
_ROWS = 7  # [rows] 0..
_COLUMNS = 8  # [elements] 0..


@inline
def bit(n):
    """Return 1 << n, in two steps: the folding of constants makes big integers from 30 on."""
    v = 1
    v = v << n
    return v


@inline
def all_but_sign():
    """Return 2**31 - 1, see bit."""
    mask = 1
    mask = (mask << 31) - 1
    return mask


@inline
def set_at(items, index, value):
    """Set items[index]. Return index: some compilers write elsewhere if it is a number there."""
    at = index
    items[at] = value
    return at


@inline
def nan_bits():
    """Return 0x7FC00000, see bit."""
    nan = 0x1FF
    nan = nan << 22
    return nan


@inline
def swap(a, b):
    """Return b and a. spare: room."""
    spare = a
    a = b
    b = spare
    return a, b, spare


@inline
def split_sign(v):
    """Return the magnitude of v, and 1 if v is negative, else 0."""
    sign = 0
    if v < 0:
        v, sign = 0 - v, 1
    return v, sign


@inline
def signed(size, is_negative):
    """Return size, or -size if it is negative."""
    v = size
    if is_negative:
        v = 0 - v
    return v


@inline
def negate_if(v, is_negative):
    """Return v, or -v if it is negative."""
    if is_negative:
        v = 0 - v
    return v


@inline
def magnitude(number):
    """Return a number without its sign."""
    v = number
    v = negate_if(v, v < 0)
    return v


@inline
def quotient(q, a, b, left):
    """Return q with bits of a / b behind its own, so many as left says; a < 2 * b.

    a, left: room.
    """
    while left:
        q = q << 1
        if a >= b:
            a -= b
            q += 1
        a = a << 1
        left -= 1
    return q, a, left


@inline
def pairs(i, j, k, p):
    """Yield places i of x, j of w and k of out, of one element after another, row by row.

    end, last: of k, in a row and at all.
    """
    end, last = k + p[_COLUMNS], k + p[_ROWS] * p[_COLUMNS]
    while k < last:
        yield i, j, k, end, last
        i += p[_X_STRIDE]
        j += p[_W_STRIDE]
        k += 1
        if k == end:
            i += p[_X_ROW_STRIDE] - p[_COLUMNS] * p[_X_STRIDE]
            j += p[_W_ROW_STRIDE] - p[_COLUMNS] * p[_W_STRIDE]
            end = k + p[_COLUMNS]


@inline
def rows_of_pairs(i, j, k, rows, x_stride, w_stride, p):
    """Yield the same, in a loop over rows and one over their elements. rows: how many are left."""
    while rows:
        end = k + p[_COLUMNS]
        while k < end:
            yield i, j, k, end, rows
            i += x_stride
            j += w_stride
            k += 1
        i += p[_X_ROW_STRIDE] - p[_COLUMNS] * p[_X_STRIDE]
        j += p[_W_ROW_STRIDE] - p[_COLUMNS] * p[_W_STRIDE]
        rows -= 1


@inline
def put_limbs(items, at, total):
    """Put the limbs of a sum, 24, 24 and 16 bits, of a word of 64. Return the next place."""
    items[at] = total & 0xFFFFFF
    items[at + 1] = (total >> 24) & 0xFFFFFF
    items[at + 2] = (total >> 48) & 0xFFFF
    at += 3
    return at


@inline
def start_sums(x, end, low, high, o, i):
    """Put the limbs of the sum of x up to end, which starts with 2**40, to o[i].

    Return the places behind in x and o. low, high: what the sum has already, then room.
    """
    while int(x) < end:
        low += x[0]
        high += low >> 24
        low = low & 0xFFFFFF
        x = ptr32(int(x) + 4)
    o[i] = low
    o[i + 1] = high
    o[i + 2] = 0
    i += 3
    return x, i, low, high


@inline
def times_multiplier(v, high, low):
    """Return v * M / 2**27, cut off, M = 2**15 * high + low; and more.

    more: not 0 if anything was cut off. v: up to 2**25 in magnitude. low, part: room.
    """
    part = v & 4095
    v = v >> 12
    more = part * low
    low = v * low + (more >> 12)
    part = part * high + (low >> 3)
    v = v * high + (part >> 12)
    more = ((more | part) & 4095) | (low & 7)
    return v, more, low, part


@inline
def index_of(items, at, size, minus, words, own, count, p):
    """Return v = the index at items[at], counted from 0; else 0, and p[count] = 1. p[minus] is -1.

    words: of an index. p[own] makes a word that wraps at 32 bits of it on every machine.
    sign, good, high: room.
    """
    high = undefined
    v = items[at]
    sign, good = (v >> 31) & 1, 1
    if words == 2:
        high = items[at + 1]
        if high:
            good = sign if high == p[minus] else 0
        elif sign:
            good = 0
    if sign:
        v += size
        p[own] = v
        v = p[own]
        if (v >> 31) & 1:
            good = 0
    if good == 0 or v >= size:
        p[count] = 1
        v = 0
    return v, sign, good, high
