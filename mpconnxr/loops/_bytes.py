"""Helpers of loops on quantized bytes: sums of products, and requantization as in loops/qdot."""

from ._hints import inline, unroll
from ._windows import (
    _COLUMN_PADDING,
    _COLUMN_STRIDE,
    _COLUMNS,
    _OUT_ROWS,
    _ROW_PADDING,
    _ROW_STRIDE,
    _ROWS,
)


@inline
def products(total, x, w, n):
    """Return total, a pointer used as an integer, plus n products x[0] * w[0] + ... of bytes."""
    for i in unroll(n):
        total = ptr8(x[i] * w[i] + int(total))
    return total


@inline
def products_from(total, x, a, w, b, n):
    """Return total, a pointer used as an integer, plus n products from x[a] and w[b] on."""
    for i in unroll(n):
        total = ptr8(x[a + i] * w[b + i] + int(total))
    return total


@inline
def products_of_words(total, x, w, n):
    """Return total, a pointer to words used as an integer, plus n products of words."""
    for i in unroll(n):
        total = ptr32(x[i] * w[i] + int(total))
    return total


@inline
def copy(x, w, out, n):
    """Copy n bytes of x, XORed with out, to w. Return w advanced."""
    for i in unroll(n):
        w[0] = x[i] ^ int(out)
        w = ptr8(1 + int(w))
    return w


@inline
def fast_path(f, word, middle):
    """Return the constants with which one product requantizes most values of a channel.

    f is the shift of the channel's scale, below 26; word holds its multiplier; middle is the
    constant that the product starts with.
    """
    limit, factor = (1 << 25) >> f, (word >> 16) & 32767
    addend, bits, shift = middle - (factor << 15), 26 - f, 10 - f
    if shift < 0:
        factor, shift = factor << (f - 10), 0
    return limit, factor, addend, bits, shift


@inline
def scale_to_limits(w, f):
    """Return the sum w clipped and shifted by f, the shift of the scale. Temporaries: x, v."""
    x = ptr8(f)
    if f > 25:
        w = ptr8(int(w) >> (f - 25))
        x = ptr8(0)
    v = (1 << 25) >> int(x)
    if int(w) > v:
        w = ptr8(v)
    if int(w) < 0 - v:
        w = ptr8(0 - v)
    w = ptr8(int(w) << int(x))
    return w, x, v


@inline
def to_even(w, word):
    """Return x = w * scale, rounded half to even, for a clipped sum w and the multiplier in word.

    Temporaries: w, v, low, lowest.
    """
    low, v = word & 32767, int(w) & 4095
    x, w = ptr8((word >> 15) & 65535), ptr8(int(w) >> 12)
    lowest = v * low
    low = int(w) * low + (lowest >> 12)
    v = v * int(x) + (low >> 3)
    w = ptr8(int(w) * int(x) + (v >> 12))
    v = ((lowest | v) & 4095) | (low & 7)
    x = ptr8(1 if v else (int(w) >> 20) & 1)
    x = ptr8((int(w) + 524287 + int(x)) >> 20)
    return x, w, v, low, lowest


@inline
def put(x, at, between, least, most):
    """Write x, clipped to least .. most, to address `at`.

    Return the next address and the clipped x.

    `between` is the distance to the next address [bytes]. Temporary: w.
    """
    if least > int(x):
        x = ptr8(least)
    elif most < int(x):
        x = ptr8(most)
    w = ptr8(at)
    w[0] = int(x)
    at = between + int(w)
    return at, x, w


@inline
def next_place(column, row, columns):
    """Return column and row of the next position, row by row."""
    column += 1
    if column == columns:
        column = 0
        row += 1
    return column, row


@inline
def next_window(window, left, top, row, past, p):
    """Return number, left, top and row of the next window; row is the start of its plane in x."""
    window += 1
    left += p[_COLUMN_STRIDE]
    if left == past:
        left = 0 - p[_COLUMN_PADDING]
        top += p[_ROW_STRIDE]
        if top == p[_OUT_ROWS] * p[_ROW_STRIDE] - p[_ROW_PADDING]:
            top = 0 - p[_ROW_PADDING]
            row += p[_ROWS] * p[_COLUMNS]
    return window, left, top, row


@inline
def shift_wide(high, low, f, bias):
    """Return v = (high * 2**15 + low) * 2**f, or / 2**(f - 32), clipped to -2**30 .. 2**30.

    Temporaries: high, low, r.
    """
    r = f - 32
    if r > 15:
        v = high >> (r - 15)
    else:
        r = max(r, 0)
        v = 1 << (15 + r)
        if high >= v:
            high, low = v - 1, 32767
        if high < 0 - v:
            high, low = 0 - v, 0
        v = (high << (15 - r)) + (low >> r)
    r = bias << 1
    if f < 32:
        r = r >> f
    v = max(min(v, r), 0 - r)
    if f < 32:
        v = v << f
    return v, high, low, r
