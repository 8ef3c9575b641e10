"""Helpers of loops for 32-bit words, and for what viper cannot express in one statement."""

from ._hints import inline, undefined

# Parameters of pairs, rows_of_pairs
_X_START = 0  # [elements] 0..
_X_ROW_STRIDE = 1  # from row to row of x [elements]
_X_STRIDE = 2  # from column to column of x [elements]
_W_START = 3  # [elements] 0..
_W_ROW_STRIDE = 4  # from row to row of w [elements]
_W_STRIDE = 5  # from column to column of w [elements]
_OUT_START = 6  # of out, whose rows are contiguous [elements] 0..
_ROWS = 7  # [rows] 0..
_COLUMNS = 8  # [elements] 0..


@inline
def bit(n):
    """Return 1 << n in two steps: constant folding would make big integers from 2**30 on."""
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
def set_at(array, index, value):
    """Set array[index] and return index: some compilers write elsewhere if index is a constant."""
    at = index
    array[at] = value
    return at


@inline
def nan_bits():
    """Return 0x7FC00000, see bit."""
    nan = 0x1FF
    nan = nan << 22
    return nan


@inline
def swap(a, b):
    """Return b and a. Temporary: spare."""
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
    """Return the absolute value of a number."""
    v = number
    v = negate_if(v, v < 0)
    return v


@inline
def quotient(q, a, b, left):
    """Append `left` bits of a / b to q, for a < 2 * b. Temporaries: a, left."""
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
    """Yield indices i of x, j of w and k of out, element by element, row by row.

    end is the end of k in a row, last its end in all rows.
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
    """Yield the same indices in a loop over rows around one over elements.

    `rows` is the number of rows left.
    """
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
def put_limbs(array, at, total):
    """Write the 24, 24 and 16-bit limbs of a 64-bit sum to array[at]; return the next index."""
    array[at] = total & 0xFFFFFF
    array[at + 1] = (total >> 24) & 0xFFFFFF
    array[at + 2] = (total >> 48) & 0xFFFF
    at += 3
    return at


@inline
def start_sums(x, end, low, high, o, i):
    """Write the limbs of 2**40 + sum(x) up to end to o[i]; return x and i advanced.

    low and high hold what the sum has already, then serve as temporaries.
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
    """Return v * M / 2**27 truncated, M = 2**15 * high + low, and more, which is 0 if exact.

    |v| is up to 2**25. Temporaries: low, part.
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
def index_of(array, at, size, minus, words, own, count, p):
    """Return v = the index at array[at], counted from 0.

    If it is out of range, return 0 and set p[count] to 1. p[minus] is -1. `words` is the size of
    an index [words]. A round trip through p[own] makes the index a word that wraps at 32 bits on
    every machine. Temporaries: sign, good, high.
    """
    high = undefined
    v = array[at]
    sign, good = (v >> 31) & 1, 1
    if words == 2:
        high = array[at + 1]
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
