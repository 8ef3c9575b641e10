"""Time steps of recurrent layers in fixed point.

The weights of a gate for one element of the state are a row of w:

    the lower 24 bits of the bias, and above them the exponent of the weights for the input
    the upper bits of the bias, plus 2**29
    the mantissas for the input, 24 bits with the sign
    if the gate has weights for h: their exponent, then their mantissas

Biases and sums have 28 fraction bits. A sum is two words, of which the first has 24 bits. A bias,
and a sum of up to 120 products, is at most 2**26 in the second word. A gate is a function of its
argument; both have 26 fraction bits, in one word. States are float32. A row of the input or of h
is its exponent E, then mantissas of 2**(E - 149). For loops that compute gates, w is a table of
sigmoid: see tools/converter/numbers/gate_table.py.

Absolute errors of gates are below 2**-25. A state above 64 also has an error of its last bit.
"""

from ._cells import (
    argument,
    gate,
    gate_product,
    gate_to_float,
    new_state,
    small_tanh,
    tanh,
)
from ._floats import first_bit, largest_bits, unpack
from ._hints import far, inline, undefined
from ._words import all_but_sign

# Parameters of row, reset, put
_X_START = const(0)  # [elements] 0..

# Parameters of lstm, rnn, relu, renew, reset_sums
_ARGUMENTS_START = const(0)  # start of the first gate's arguments in out [elements] 0..

# Parameters of row, reset, put, lstm, rnn, relu, renew, reset_sums
_ELEMENTS = const(1)  # of the row, or of each gate [elements] 0..

# Parameters of row, reset, put
_OUT_START = const(2)  # [elements] 0..

# Parameters of row
_TAIL_ELEMENTS = const(3)  # elements of x behind the row that must be finite, too [elements] 0..

# Parameters of lstm, rnn, relu, renew
_H_START = const(2)  # start of the new states in out [elements] 0..

# Parameters of lstm
_C_START = const(3)  # start of the cell states in out [elements] 0..

# Parameters of sums, small_sums
_X_ROW_START = const(0)  # start of the row of the layer's input [elements] 0..
_X_ELEMENTS = const(1)  # of that row [elements] 0..480
_H_ROW_START = const(2)  # start of the row of the states [elements] 0..
_H_ELEMENTS = const(3)  # of that row [elements] 0..480
_W_START = const(4)  # [elements] 0..
_ROWS = const(5)  # of w [rows] 1..
_SUMS_OUT_START = const(6)  # [elements] 0..
_HAS_ARGUMENTS = const(7)  # out holds arguments, not sums of two words [flag] 0, 1


@inline
def mantissa(word):
    """Return a mantissa with its sign, from a word that may have been read as unsigned."""
    v = ((word + 0x800000) & 0xFFFFFF) - 0x800000
    return v


@inline
def products(x, first, w, at, n):
    """Return high and low: high * 2**24 + low is the exact sum of up to 120 products of x and w.

    first and at are the starts in x and w, n the number of products; at advances. The other names
    are temporaries.
    """
    u = v = product = undefined
    i, low, middle, high = first, 0, 0, 0
    end = at + n
    while at < end:
        u = mantissa(x[i])
        v = mantissa(w[at])
        product = (u & 4095) * (v & 4095)
        low += product & 4095
        middle += (u & 4095) * (v >> 12) + (u >> 12) * (v & 4095) + (product >> 12)
        high += (u >> 12) * (v >> 12)
        i += 1
        at += 1
    middle += low >> 12
    low = (low & 4095) | (middle & 4095) << 12
    high += middle >> 12
    return high, low, at, middle, i, end, u, v, product


@inline
def add_products(sum_low, sum_high, shift, x, first, w, at, n):
    """Return sum_high * 2**24 + sum_low plus (a sum of products >> shift), which is clipped.

    The arguments from x to n are those of products; at advances. shift and the other names are
    temporaries.
    """
    high, low, at, middle, i, end, u, v, limit = products(x, first, w, at, n)
    if shift >= 24:
        shift -= 24
        high = high >> (shift if shift < 31 else 31)
        low = high & 0xFFFFFF
        high = high >> 24
    else:
        if shift > 0:
            low = (low >> shift) | (high & ((1 << shift) - 1)) << (24 - shift)
            high = high >> shift
        limit = 1 << 26
        while shift < 0 and high <= limit and high >= 0 - limit:
            high = high + high + (low >> 23)
            low = (low << 1) & 0xFFFFFF
            shift += 1
        if high > limit or high < 0 - limit:
            low = 0
            high = limit if high > 0 else 0 - limit
    sum_low += low
    sum_high += high
    return sum_low, sum_high, shift, at, high, low, middle, i, end, u, v, limit


@inline
def normalized(e, high, low):
    """Return m and e such that m * 2**e is the old (high * 2**24 + low) * 2**e.

    m gets 28 bits and a sign. Temporaries: high, low, is_negative.
    """
    is_negative = 0
    if high < 0:
        low, is_negative = 0 - low, 1
        high = (low >> 24) - high
        low = low & 0xFFFFFF
    while high >= 16:
        low = (low >> 1) | (high & 1) << 23
        high = high >> 1
        e += 1
    m = (high << 24) | low
    if m == 0:
        e = 0 - 999
    while m and m < 1 << 27:
        m = m << 1
        e -= 1
    if is_negative:
        m = 0 - m
    return m, e, high, low, is_negative


@inline
def aligned(m, shift, most):
    """Return m, converted from units of 2**shift to units of 2**most, and the right shift."""
    shift = most - shift
    m = m >> (shift if shift < 31 else 31)
    return m, shift


def row(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Convert a row of floats to mantissas.

    If one of them, or of those in the tail, is inf or NaN, write only the exponent 255.

    Access:
        reads x[x_start : x_start + elements + tail_elements]
        writes out[out_start : out_start + 1 + elements]
    """
    i = p[_X_START]
    end, most = i + p[_ELEMENTS], 0
    mask = all_but_sign()
    most, i, v = largest_bits(most, x, i, end, mask)
    exponent = most >> 23
    end += p[_TAIL_ELEMENTS]
    most, i, v = largest_bits(most, x, i, end, mask)
    at = p[_OUT_START]
    if most >> 23 == 255:
        out[at] = 255
        end = 0
    else:
        exponent = max(exponent, 1)
        out[at] = exponent
        i = p[_X_START]
        end = i + p[_ELEMENTS]
    while i < end:
        v = x[i]
        m, e = unpack(v)
        m, e = first_bit(m, e)
        e = exponent - e
        m = 0 if e > 23 else (m + (1 << e)) >> (e + 1)
        if m == 0x800000:
            m -= 1
        if (v >> 31) & 1:
            m = 0 - m
        at += 1
        out[at] = m
        i += 1


def sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write bias + w_x . x + w_h . h for each row of w. x holds both rows, the input's before h.

    With has_arguments, a sum is written as one word: the argument of its gate. Without, it is
    written as two words, the second plus 2**30.

    Access:
        words = rows * (2 - has_arguments)
        reads x[x_row_start : x_row_start + 1 + x_elements] if rows
        reads x[h_row_start : h_row_start + 1 + h_elements] if rows
        row = 2 + x_elements + (h_elements + 1 if h_elements else 0)
        reads w[w_start : w_start + rows * row]
        writes out[sums_out_start : sums_out_start + words]
        firsts = [w_start + i * row for i in range(rows)]
        given 1 <= x[x_row_start : x_row_start + 1] < 255
        given 1 <= x[h_row_start : h_row_start + 1] < 255
        given 0 - (1 << 23) < x[x_row_start + 1 : x_row_start + 1 + x_elements] < 1 << 23
        given 0 - (1 << 23) < x[h_row_start + 1 : h_row_start + 1 + h_elements] < 1 << 23
        given 1 << 28 <= w[i + 1 : i + 2] <= 3 << 28 for i in firsts
        given 0 - (1 << 23) < w[i + 2 : i + 2 + x_elements] < 1 << 23 for i in firsts
        given 1 <= w[i + 2 + x_elements : i + 3 + x_elements] < 255 for i in firsts if h_elements
        given 0 - (1 << 23) < w[i + 3 + x_elements : i + row] < 1 << 23
            for i in firsts if h_elements
        given x_row_start + 1 + x_elements <= h_row_start
    """
    mask = all_but_sign()
    i, at = p[_W_START], p[_SUMS_OUT_START]
    for rows in far(range(p[_ROWS], 0, -1)):
        sum_low, sum_high = w[i] & 0xFFFFFF, (w[i + 1] & 0x3FFFFFFF) - (1 << 29)
        unit = 270 - ((w[i] >> 24) & 255)
        i += 2
        first, n = p[_X_ROW_START], p[_X_ELEMENTS]
        for part in far(range(2, 0, -1)):
            if part == 1:
                first, n = p[_H_ROW_START], p[_H_ELEMENTS]
                if n:
                    unit = 270 - (w[i] & 255)
                    i += 1
            unit -= x[first]
            first += 1
            while far(n != 0):
                shift, piece = unit, (n - 1) % 120 + 1
                sum_low, sum_high, shift, i, high, low, middle, a, b, u, v, s = add_products(
                    sum_low, sum_high, shift, x, first, w, i, piece
                )
                first += piece
                n -= piece
        sum_high += sum_low >> 24
        sum_low = sum_low & 0xFFFFFF
        if p[_HAS_ARGUMENTS]:
            sum_low = argument(sum_low, sum_high, mask)
            out[at] = sum_low
        else:
            out[at] = sum_low
            at += 1
            out[at] = sum_high + (1 << 29) + (1 << 29)
        at += 1


def small_sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write sums as floats behind the arguments.

    With has_arguments, do so only where an argument is below 1/16. The biases as floats follow the
    rows of w. The rows of x have up to 120 elements each.

    Access:
        reads x[x_row_start : x_row_start + 1 + x_elements]
        reads x[h_row_start : h_row_start + 1 + h_elements]
        reads w[w_start : w_start + rows * (4 + x_elements + h_elements)]
        updates out[sums_out_start : sums_out_start + 2 * rows]
        given x_elements and h_elements
        row = 3 + x_elements + h_elements
        firsts = [w_start + i * row for i in range(rows)]
        given 1 <= x[x_row_start : x_row_start + 1] < 255
        given 1 <= x[h_row_start : h_row_start + 1] < 255
        given 0 - (1 << 23) < x[x_row_start + 1 : x_row_start + 1 + x_elements] < 1 << 23
        given 0 - (1 << 23) < x[h_row_start + 1 : h_row_start + 1 + h_elements] < 1 << 23
        given 1 << 28 <= w[i + 1 : i + 2] <= 3 << 28 for i in firsts
        given 0 - (1 << 23) < w[i + 2 : i + 2 + x_elements] < 1 << 23 for i in firsts
        given 1 <= w[i + 2 + x_elements : i + 3 + x_elements] < 255 for i in firsts if h_elements
        given 0 - (1 << 23) < w[i + 3 + x_elements : i + row] < 1 << 23
            for i in firsts if h_elements
        given x_row_start + 1 + x_elements <= h_row_start
        given 0 - (1 << 31) < out[sums_out_start : sums_out_start + rows]
        given magnitude(w[w_start + rows * row : w_start + rows * (row + 1)]) < 255 << 23
    """
    mask = all_but_sign()
    for k in far(range(p[_ROWS])):
        v = 0
        if p[_HAS_ARGUMENTS]:
            v = out[p[_SUMS_OUT_START] + k]
            if (v >> 31) & 1:
                v = (0 - v) & mask
        is_small = 1 if v < 1 << 22 else 0
        while far(is_small != 0):
            is_small = 0
            i = p[_W_START] + k * (3 + p[_X_ELEMENTS] + p[_H_ELEMENTS])
            total, exponent, e = 0, 0 - 999, (w[i] >> 24) & 255
            i += 2
            e += x[p[_X_ROW_START]] - 298
            first, n = p[_X_ROW_START] + 1, p[_X_ELEMENTS]
            for part in far(range(3)):
                high, low, i, middle, a, b, u, v, s = products(x, first, w, i, n)
                if part == 2:
                    b = w[p[_W_START] + p[_ROWS] * (3 + p[_X_ELEMENTS] + p[_H_ELEMENTS]) + k]
                    low, e = unpack(b)
                    low, e = first_bit(low, e)
                    e -= 150
                    if (b >> 31) & 1:
                        low, high = 0x1000000 - low, 0 - 1
                term, e, high, low, s = normalized(e, high, low)
                a, exponent = exponent, max(e, exponent)
                total, a = aligned(total, a, exponent)
                term, e = aligned(term, e, exponent)
                total += term
                if part == 0:
                    first, n, e = (
                        p[_H_ROW_START] + 1,
                        p[_H_ELEMENTS],
                        (w[i] & 255) + x[p[_H_ROW_START]] - 298,
                    )
                    i += 1
                else:
                    n = 0
            s = 0
            if total < 0:
                total, s = 0 - total, 1
            while total >= 1 << 25:
                total = total >> 1
                exponent += 1
            if total >= 1 << 24:
                total = (total + 1) >> 1
                exponent += 1
            while total and total < 1 << 23:
                total = total << 1
                exponent -= 1
            exponent += 149
            if exponent < 0:
                total = total >> (0 - exponent if exponent > 0 - 25 else 25)
                exponent = 0
            if exponent > 253:
                total, exponent = 0x800000, 254
            if total:
                total += exponent << 23
            if s:
                total = total - mask - 1
            out[p[_SUMS_OUT_START] + p[_ROWS] + k] = total


def lstm(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute gates from the arguments of i, o, f and g, and new states from them.

    Access:
        n = elements
        reads w[0:351]
        updates out[arguments_start : arguments_start + 4 * n]
        writes out[h_start : h_start + n]
        updates out[c_start : c_start + n]
        given 1 << 28 <= w[3 * i : 3 * i + 1] < 1 << 29 for i in range(117)
        given 0 <= w[3 * i + 1 : 3 * i + 2] < 8000000 for i in range(117)
        given 0 <= w[3 * i + 2 : 3 * i + 3] < 4000 << 16 for i in range(117)
        given 0 - (1 << 31) < out[arguments_start : arguments_start + 4 * n]
        given magnitude(out[c_start : c_start + n]) < 255 << 23
        given arguments_start + 4 * n <= h_start and h_start + n <= c_start
    """
    mask = all_but_sign()
    at, n = p[_ARGUMENTS_START], p[_ELEMENTS]
    for i in far(range(3 * n)):
        v = out[at]
        a, v, sign, b, c, t = gate(v, mask, w)
        out[at] = a
        at += 1
    for i in far(range(n)):
        v = out[at]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        a, v, b, c, t = tanh(v, mask, w)
        b, at = a, p[_ARGUMENTS_START] + i
        if sign:
            b = 0 - b
        a, f, v = out[at], out[at + 2 * n], out[p[_C_START] + i]
        m, sign, a, b, e, s = new_state(v, a, b, f, mask)
        v = m
        if sign & 1:
            v = m - mask - 1
        out[p[_C_START] + i] = v
        at += 3 * n + 1
    at = p[_ARGUMENTS_START]
    for i in far(range(n)):
        m = out[p[_C_START] + i]
        sign = (m >> 31) & 1
        m = m & mask
        v, e = (m & 0x7FFFFF) | 0x800000, (m >> 23) - 124
        if e < 0:
            v = (v + (1 << (0 - 1 - e))) >> (0 - e) if e > 0 - 25 else 0
        else:
            v = v << e if e < 8 else mask
        a, v, b, c, t = tanh(v, mask, w)
        b = out[at + n]
        m = gate_product(a, b)
        m, e = gate_to_float(m)
        if sign:
            m = m - mask - 1
        out[p[_H_START] + i] = m
        at += 1


def rnn(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write h = tanh of arguments, or, if below 1/16, of the floats behind them.

    Access:
        n = elements
        reads w[0:351]
        reads out[arguments_start : arguments_start + 2 * n]
        writes out[h_start : h_start + n]
        given 1 << 28 <= w[3 * i : 3 * i + 1] < 1 << 29 for i in range(117)
        given 0 <= w[3 * i + 1 : 3 * i + 2] < 8000000 for i in range(117)
        given 0 <= w[3 * i + 2 : 3 * i + 3] < 4000 << 16 for i in range(117)
        given 0 - (1 << 31) < out[arguments_start : arguments_start + n]
        given magnitude(out[arguments_start + n : arguments_start + 2 * n]) < 255 << 23
        given arguments_start + 2 * n <= h_start
    """
    mask = all_but_sign()
    for i in far(range(p[_ELEMENTS])):
        v = out[p[_ARGUMENTS_START] + i]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        if v < 1 << 22:
            v = out[p[_ARGUMENTS_START] + p[_ELEMENTS] + i]
            sign = (v >> 31) & 1
            m, e = unpack(v)
            m = m | 0x800000
            if e > 122:  # rounded up to 1/16
                m, e = 0xFFFFFF, 122
            if e < 115:
                m = v & mask
            else:
                m, e, a = small_tanh(m, e)
        else:
            m, v, b, c, t = tanh(v, mask, w)
            m, e = gate_to_float(m)
        if sign:
            m = m - mask - 1
        out[p[_H_START] + i] = m


def relu(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write h = the floats behind the arguments, or 0 for negative ones.

    Access:
        reads out[arguments_start + elements : arguments_start + 2 * elements]
        writes out[h_start : h_start + elements]
        given magnitude(out[arguments_start + elements : arguments_start + 2 * elements])
            < 255 << 23
        given arguments_start + 2 * elements <= h_start
    """
    for i in range(p[_ELEMENTS]):
        v = out[p[_ARGUMENTS_START] + p[_ELEMENTS] + i]
        if (v >> 31) & 1:
            v = 0
        out[p[_H_START] + i] = v


def reset(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Replace the mantissas of h by r * h; x holds the arguments of the gates r.

    Access:
        reads x[x_start : x_start + elements]
        updates out[out_start : out_start + elements]
        reads w[0:351]
        given 1 << 28 <= w[3 * i : 3 * i + 1] < 1 << 29 for i in range(117)
        given 0 <= w[3 * i + 1 : 3 * i + 2] < 8000000 for i in range(117)
        given 0 <= w[3 * i + 2 : 3 * i + 3] < 4000 << 16 for i in range(117)
        given 0 - (1 << 31) < x[x_start : x_start + elements]
        given 0 - (1 << 23) < out[out_start : out_start + elements] < 1 << 23
    """
    mask = all_but_sign()
    for i in far(range(p[_ELEMENTS])):
        v = x[p[_X_START] + i]
        a, v, sign, b, c, t = gate(v, mask, w)
        v = out[p[_OUT_START] + i]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        b = (((v >> 12) * (a & 8191)) >> 1) + (v & 4095) * (a >> 13)
        v = ((v >> 12) * (a >> 13) + (b >> 12) + 1) >> 1
        if sign:
            v = 0 - v
        out[p[_OUT_START] + i] = v


def reset_sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write arguments of new states: sums over the input, plus sums over h times gates r.

    The sums over the input follow the arguments of r and are replaced by the results; the sums
    over h follow them.

    Access:
        updates out[arguments_start : arguments_start + 5 * elements]
        reads w[0:351]
        given 1 << 28 <= w[3 * i : 3 * i + 1] < 1 << 29 for i in range(117)
        given 0 <= w[3 * i + 1 : 3 * i + 2] < 8000000 for i in range(117)
        given 0 <= w[3 * i + 2 : 3 * i + 3] < 4000 << 16 for i in range(117)
        n = elements
        given 0 - (1 << 31) < out[arguments_start : arguments_start + n]
        given 0 <= out[arguments_start + n + 2 * i : arguments_start + n + 2 * i + 1] < 1 << 24
            for i in range(2 * n)
        given 1 << 29 <= out[arguments_start + n + 2 * i + 1 : arguments_start + n + 2 * i + 2]
            <= 3 << 29 for i in range(2 * n)
    """
    mask = all_but_sign()
    n = p[_ELEMENTS]
    at = p[_ARGUMENTS_START] + n
    for i in far(range(n)):
        v = out[p[_ARGUMENTS_START] + i]
        a, v, sign, b, c, t = gate(v, mask, w)
        over_h = at + 2 * n
        sum_low, sum_high, sign = out[over_h], (out[over_h + 1] & mask) - (1 << 29) - (1 << 29), 0
        if sum_high < 0:
            sum_low, sign = 0 - sum_low, 1
            sum_high = (sum_low >> 24) - sum_high
            sum_low = sum_low & 0xFFFFFF
        shift = 0
        while sum_high >> shift >= 16 and shift < 31:
            shift += 1
        m = (
            sum_high >> (shift - 24)
            if shift > 24
            else (sum_high << (24 - shift)) | sum_low >> shift
        )
        sum_low = (a & 8191) * (m >> 14)
        sum_low += sum_low + (a >> 13) * (m & 16383) + (((a & 8191) * (m & 16383)) >> 13)
        m = (a >> 13) * (m >> 14)
        m += m + (sum_low >> 13)
        if shift > 24:
            sum_low, sum_high = 0, m << (shift - 24)
        else:
            sum_low, sum_high = (m & ((1 << (24 - shift)) - 1)) << shift, m >> (24 - shift)
        if sign:
            sum_low, sum_high = 0 - sum_low, 0 - sum_high
        sum_low += out[at]
        sum_high += (out[at + 1] & mask) - (1 << 29) - (1 << 29) + (sum_low >> 24)
        sum_low = sum_low & 0xFFFFFF
        sum_low = argument(sum_low, sum_high, mask)
        out[p[_ARGUMENTS_START] + n + i] = sum_low
        at += 2


def renew(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write h = z * h + (1 - z) * tanh of an argument.

    The arguments of z are followed by an equal number of others, then by those of tanh.

    Access:
        n = elements
        reads w[0:351]
        updates out[arguments_start : arguments_start + n]
        reads out[arguments_start : arguments_start + 3 * n]
        updates out[h_start : h_start + n]
        given 1 << 28 <= w[3 * i : 3 * i + 1] < 1 << 29 for i in range(117)
        given 0 <= w[3 * i + 1 : 3 * i + 2] < 8000000 for i in range(117)
        given 0 <= w[3 * i + 2 : 3 * i + 3] < 4000 << 16 for i in range(117)
        given 0 - (1 << 31) < out[arguments_start : arguments_start + 3 * n]
        given magnitude(out[h_start : h_start + n]) < 255 << 23
        given arguments_start + 3 * n <= h_start
    """
    mask = all_but_sign()
    for i in far(range(p[_ELEMENTS])):
        at = p[_ARGUMENTS_START] + i
        v = out[at]
        a, v, sign, b, c, t = gate(v, mask, w)
        out[at] = a
    for i in far(range(p[_ELEMENTS])):
        at = p[_ARGUMENTS_START] + i
        v = out[at + 2 * p[_ELEMENTS]]
        sign = (v >> 31) & 1
        if sign:
            v = (0 - v) & mask
        b, v, a, c, t = tanh(v, mask, w)
        if sign:
            b = 0 - b
        f, v = out[at], out[p[_H_START] + i]
        a = (1 << 26) - f
        m, sign, a, b, e, s = new_state(v, a, b, f, mask)
        if sign & 1:
            m = m - mask - 1
        out[p[_H_START] + i] = m


def put(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Copy x to out.

    Access:
        reads x[x_start : x_start + elements]
        writes out[out_start : out_start + elements]
    """
    i, at = p[_X_START], p[_OUT_START]
    end = i + p[_ELEMENTS]
    while i < end:
        out[at] = x[i]
        at += 1
        i += 1
