"""Means of windows, rounded as in float32.

choose    Write bytes of the means of bytes, but list those that are ties.
spans     Find the elements of the listed windows.
sums      Add them up.
means     Divide these sums.
rounds    Call all of these, then a loop of loops/mean_bytes, until the last window.

x holds planes (rows, columns) from element x_start on, out of choose planes (out_rows,
out_columns) from element out_start on. out of the other loops is w, which holds

    from 0 on     the list, of up to 64 windows
    from 64 on    spans: the first byte of each of these; sums and means: their mantissas
    from 128 on   spans: lines, elements of a line (13 bits), and elements left over (2 bits);
                  sums and means: twice their exponents, plus 1 if negative; sums: plus 1024
                  times the divisor

Order 0 adds elements row after row, order 1 the sums of columns. Order 2, for a window that is a
plane, computes four sums of every fourth element, a, b, c and d, adds them as (a + c) + (b + d),
then adds the remaining elements. An element stands for its distance from the zero point, times
x_scale. Without a ratio of the scales, choose lists all windows.

Floats are computed on their bits: 2**23 .. 2**24 (here a, m) times a power of two (e, n), with a
sign (s, r). Products, sums and quotients are rounded to even as IEEE 754 does.
"""

from ._bytes import next_window
from ._floats import add
from ._windows import (
    _COLUMN_PADDING,
    _COLUMN_STRIDE,
    _COLUMNS,
    _KERNEL_COLUMNS,
    _KERNEL_ROWS,
    _OUT_COLUMNS,
    _OUT_ROWS,
    _OUT_START,
    _PLANES,
    _ROW_PADDING,
    _ROW_STRIDE,
    _ROWS,
    _X_START,
)
from ._words import set_at, split_sign, swap

# Parameters of rounds, choose, spans, sums, means: as _windows.windows
_DIVISOR = const(13)  # divisor of a sum; 0: number of elements inside x [elements] 0..8000
_ORDER = const(14)  # order of additions: 0 by rows, 1 by columns, 2 four sums [code] 0..2
_X_ZERO_POINT = const(15)  # of x ^ flip [value] 0..65535
_FLIP = 16  # sign bit if x and out are signed, else 0 [mask] 0, 128, 32768
_NEGATIVE_LEVELS = 17  # for mean_bytes.bytes_of; choose_wide has _NEAR here [levels] 0..
_OUT_LEAST = 18  # least byte of out, for mean_bytes.bytes_of [value] 0, 128
_RATIO_NUMERATOR = const(19)  # of x_scale / out_scale; 0: no such fraction [value] 0..64
_RATIO_DENOMINATOR = const(20)  # [value] 0..64
_WINDOW = 21  # next window of choose, set by it [windows] 0..
_LISTED = 22  # windows in the list, set by choose [windows] 0..64
_X_SCALE_HIGH = const(23)  # the upper 12 bits of the mantissa of x_scale [value] 0..4095
_X_SCALE_LOW = const(24)  # its lower 12 bits [value] 0..4095
_X_SCALE_EXPONENT = const(25)  # biased [exponent] 0..187
_OUT_SCALE = 26  # mantissa of out_scale [value] 0..2**24 - 1
_OUT_SCALE_EXPONENT = 27  # biased [exponent] 0..187
_OUT_ZERO_POINT = 28  # of out ^ flip [value] 0..65535
_BYTES_PER_ELEMENT = 29  # [bytes] 1, 2
_HIGH = 30  # greatest element of out ^ flip [value] 255, 65535


def rounds(p: ptr32, w):
    """Compute the means of all windows.

    w lists loops choose, spans, sums, means, and one of loops/mean_bytes; p; the list; x and out
    of choose; x of sums; the levels, and out of the last loop.

    Access: of the loops it calls
    """
    choose, spans, sums, means, finish = w[:5]
    whole, listed, seen, chosen, x = w[5:10]
    levels, out = w[10], w[11]
    i = set_at(p, _WINDOW, 0)
    while p[_WINDOW] < p[_PLANES] * p[_OUT_ROWS] * p[_OUT_COLUMNS]:
        choose(seen, listed, chosen, whole)
        spans(listed, listed, listed, whole)
        sums(x, listed, listed, whole)
        means(listed, listed, listed, whole)
        finish(levels, listed, out, whole)


def choose(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Write bytes of the means and list the ties.

    Access:
        reads x[x_start : x_start + planes * rows * columns]
        writes w[0 : min(64, planes * out_rows * out_columns)]
        writes out[out_start : out_start + planes * out_rows * out_columns]
        writes p[21 : 23]
    """
    window, listed = p[_WINDOW], 0
    left = window % p[_OUT_COLUMNS] * p[_COLUMN_STRIDE] - p[_COLUMN_PADDING]
    top = window // p[_OUT_COLUMNS] % p[_OUT_ROWS] * p[_ROW_STRIDE] - p[_ROW_PADDING]
    plane = p[_X_START] + window // (p[_OUT_ROWS] * p[_OUT_COLUMNS]) * p[_ROWS] * p[_COLUMNS]
    past = p[_OUT_COLUMNS] * p[_COLUMN_STRIDE] - p[_COLUMN_PADDING]
    while window < p[_PLANES] * p[_OUT_ROWS] * p[_OUT_COLUMNS] and listed < 64:
        row = top if top > 0 else 0
        bottom = min(top + p[_KERNEL_ROWS], p[_ROWS])
        first_column = left if left > 0 else 0
        right = min(left + p[_KERNEL_COLUMNS], p[_COLUMNS])
        count = (bottom - row) * (right - first_column)
        total = 0 - count * p[_X_ZERO_POINT]
        while row < bottom:
            i = plane + row * p[_COLUMNS]
            stop = i + right
            i += first_column
            while i < stop:
                total += x[i] ^ p[_FLIP]
                i += 1
            row += 1
        if p[_DIVISOR]:
            count = p[_DIVISOR]
        count = count * p[_RATIO_DENOMINATOR]
        i = total if total > 0 else 0 - total
        i = 2 * i * p[_RATIO_NUMERATOR] + count
        stop = i // (2 * count)
        if p[_RATIO_NUMERATOR] == 0 or stop * 2 * count == i:
            w[listed] = window
            listed += 1
        else:
            i = min(max(p[_OUT_ZERO_POINT] + (stop if total > 0 else 0 - stop), 0), 255)
            out[p[_OUT_START] + window] = i ^ p[_FLIP]
        window, left, top, plane = next_window(window, left, top, plane, past, p)
    i = set_at(p, _WINDOW, window)
    p[i + (_LISTED - _WINDOW)] = listed


def spans(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the elements of the listed windows.

    Access:
        reads w[0 : listed]
        writes out[64 : 64 + listed]
        writes out[128 : 128 + listed]
    """
    for listed in range(p[_LISTED]):
        window = w[listed]
        top = window // p[_OUT_COLUMNS] % p[_OUT_ROWS] * p[_ROW_STRIDE] - p[_ROW_PADDING]
        bottom = top + p[_KERNEL_ROWS]
        top = max(top, 0)
        bottom = min(bottom, p[_ROWS])
        left = window % p[_OUT_COLUMNS] * p[_COLUMN_STRIDE] - p[_COLUMN_PADDING]
        right = left + p[_KERNEL_COLUMNS]
        left = max(left, 0)
        right = min(right, p[_COLUMNS])
        lines, length = bottom - top, right - left
        rest = lines * length
        if p[_ORDER] == 1:
            lines, length = length, bottom - top
        elif p[_ORDER] == 2:
            lines, length = 4, rest >> 2
        out[64 + listed] = p[_BYTES_PER_ELEMENT] * (
            p[_X_START]
            + (window // (p[_OUT_ROWS] * p[_OUT_COLUMNS]) * p[_ROWS] + top) * p[_COLUMNS]
            + left
        )
        out[128 + listed] = ((lines << 13) + length) << 2 | (rest & 3)


def sums(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Add up the elements of the listed windows.

    Access:
        given spans has filled w from the list
        end = x_start + planes * rows * columns
        reads x[x_start * bytes_per_element : end * bytes_per_element] if listed
        reads w[64 : 64 + listed]
        reads w[128 : 128 + listed]
        writes out[64 : 64 + listed]
        writes out[128 : 128 + listed]
    """
    listed = 0
    while True:  # a condition here would branch beyond Xtensa's range
        if listed == p[_LISTED]:
            return
        line = w[64 + listed]
        length = (w[128 + listed] >> 2) & 8191
        lines, rest = w[128 + listed] >> 15, w[128 + listed] & 3
        count, element_stride = lines * length, p[_BYTES_PER_ELEMENT]
        line_stride = p[_COLUMNS] * element_stride
        if p[_ORDER] == 1:
            line_stride = element_stride
            element_stride = p[_COLUMNS] * line_stride
        beyond = line
        if p[_ORDER] == 2:
            line_stride, element_stride = 2 * element_stride, 4 * element_stride
            beyond = line + length * element_stride
            count += rest
        a = e = s = total = held = of_total = of_held = 0
        while lines:
            i, k, last = line, 0, length
            if p[_ORDER] == 2 and lines == 1:
                last = length + 1 + rest
            while k <= last:
                m, n = 0, of_total
                if k == length:
                    m = total
                elif k == length + 1:
                    m, n, i = held, of_held, beyond
                    element_stride = p[_BYTES_PER_ELEMENT]
                else:
                    m = x[i]
                    if p[_BYTES_PER_ELEMENT] > 1:
                        m += x[i + 1] << 8
                    i += element_stride
                    m = (m ^ p[_FLIP]) - p[_X_ZERO_POINT]
                    m, n = split_sign(m)
                    t = m * p[_X_SCALE_LOW]
                    m, t, r = m * p[_X_SCALE_HIGH] + (t >> 12), t & 4095, 0
                    while m >> (12 + r):
                        r += 1
                    n += (p[_X_SCALE_EXPONENT] + r) << 1
                    if r > 12:
                        t += (m & ((1 << (r - 12)) - 1)) << 12
                        m = m >> (r - 12)
                    else:
                        m = (m << (12 - r)) + (t >> r)
                        t = t & ((1 << r) - 1)
                    if 2 * t + (m & 1) > 1 << r:
                        m += 1
                r, n = n & 1, n >> 1
                k += 1
                if not a:
                    a, e, s = m, n, r
                elif m:
                    # The sum with guard, round and sticky bits.
                    m, a = m << 3, a << 3
                    if e < n:
                        a, m, t = swap(a, m)
                        e, n, t = swap(e, n)
                        s, r, t = swap(s, r)
                    t = min(e - n, 27)
                    a, e, s, m, n = add(a, e, s, m, t, r)
            lines -= 1
            line += line_stride
            if p[_ORDER] and lines:
                total, of_total, a = a, 2 * e + s, 0
                if p[_ORDER] == 2:
                    line_stride = p[_BYTES_PER_ELEMENT] - line_stride
                    if lines == 2:
                        held, of_held, total = total, of_total, 0
        if p[_DIVISOR]:
            count = p[_DIVISOR]
        out[64 + listed] = a
        out[128 + listed] = 1024 * count + 2 * e + s
        listed += 1


def means(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Divide the sums of the listed windows.

    Access:
        reads w[64 : 64 + listed]
        reads w[128 : 128 + listed]
        writes out[64 : 64 + listed]
        writes out[128 : 128 + listed]
    """
    for listed in range(p[_LISTED]):
        a, count = w[64 + listed], w[128 + listed] >> 10
        e = w[128 + listed] & 1023
        while count & 1 == 0:
            count = count >> 1
            e -= 2
        if a and count > 1:
            m = a // count
            n = a - m * count
            e += 6
            while m < 67108864:
                m, n = m << 1, n << 1
                e -= 2
                if n >= count:
                    n -= count
                    m += 1
            if n:
                m = m | 1
            a = m >> 3
            if (m & 7) + (a & 1) > 4:
                a += 1
        out[64 + listed] = a
        out[128 + listed] = e
