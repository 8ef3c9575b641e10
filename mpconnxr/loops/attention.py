"""Attention of float32 in block floating point, some rows of keys or values at a time.

attend   Compute units: see ops/attention.
scored   Compute exponents of queries, keys and values, and the scores of a unit.
seen     Compute powers of the scores, and the values weighted by them.
limit    Read the number of keys from a tensor.
peaks    Write the exponents of rows of floats.
pack     Write rows of floats as 24-bit mantissas, as loops/block_dot takes them.
scale    Multiply mantissas by a factor.
settle   Write sums of products of queries and keys, from loops/block_dot, as words: scores.
powers   Write 2**(score - largest score) as float32, and their results for each row.
weights  Write powers as mantissas that include the exponents of the rows of values.
sums     Accumulate products of weights and values, from loops/block_dot.
finish   Write the sums, divided by those of the powers, as float32.

A unit is some queries of a group of heads of a batch. Queries are multiplied by scale / ln(2), so
that the exponentials are powers of two. A score has 22 fraction bits, fewer if scores are large.
Words of scratch may have any value: shifts are bounded, and no word is used as an index.
"""

from ._floats import normalize
from ._hints import inline
from ._words import all_but_sign, set_at
from .block_dot import _CHANNELS

# Parameters of attend, scored, seen
_UNIT = 0  # next unit [units] 0..
_UNIT_END = 1  # end, exclusive [units] 0..
_PARTS = const(2)  # chunks of the queries [parts] 1..
_GROUPS = const(3)  # heads of keys and values [heads] 1..
_HEADS = 4  # of queries in a group [heads] 1..
_QUERIES = const(5)  # [rows] 1..
_PART_QUERIES = const(6)  # queries of a chunk; the last may have fewer [rows] 1..
_KEYS = const(7)  # [rows] 0..32767
_KEY_COLUMNS = 8  # of a query and of a key [elements] 1..128
_VALUE_COLUMNS = 9  # of a value [elements] 1..128
_IS_CAUSAL = 10  # a query sees no later keys [flag] 0, 1
_HAS_LENGTHS = const(11)  # limit reads the number of keys [flag] 0, 1
_BLOCK_ROWS = const(12)  # keys or values at once [rows] 1..
_Q_BATCH_STRIDE = 13  # [elements] 0..
_Q_HEAD_STRIDE = 14  # [elements] 0..
_Q_ROW_STRIDE = 15  # [elements] 0..
_K_BATCH_STRIDE = 16  # [elements] 0..
_K_HEAD_STRIDE = 17  # [elements] 0..
_K_ROW_STRIDE = 18  # [elements] 0..
_V_BATCH_STRIDE = 19  # [elements] 0..
_V_HEAD_STRIDE = 20  # [elements] 0..
_V_ROW_STRIDE = 21  # [elements] 0..
_OUT_BATCH_STRIDE = 22  # [elements] 0..
_OUT_HEAD_STRIDE = 23  # [elements] 0..
_OUT_QUERY_STRIDE = 24  # from row to row of out [elements] 0..
_BATCH = 25  # of the unit [batches] 0..
_QUERY = 26  # first query of the unit [rows] 0..
_UNIT_QUERIES = 27  # [rows] 0..
_UNIT_KEYS = 28  # keys that a query of the unit may see [rows] 0..
_GROUP = 29  # of the unit [groups] 0..
_KEYS_BEFORE = 30  # keys before the first query, + 2**20 [rows] 0..
_K_EXPONENTS_START = const(31)  # in scratch, as the starts below [elements] 0..
_V_EXPONENTS_START = const(32)  # [elements] 0..
_Q_EXPONENTS_START = const(33)  # [elements] 0..
_Q_START = const(34)  # mantissas of queries [elements] 0..
_SCORES_START = const(35)  # [elements] 0..
_KV_START = const(36)  # mantissas of keys or values [elements] 0..
_WEIGHTS_START = const(37)  # [elements] 0..
_SUMS_START = const(38)  # [elements] 0..
_RESULTS_START = const(39)  # three results of powers for each row [elements] 0..
_LIMIT = 40  # parameters of limit [words x 2]
_LENGTH = const(42)  # number of keys, set by limit [rows] 0..32767
_PEAKS = 43  # parameters of peaks [words x 6]
_PACK = 49  # parameters of pack [words x 9]
_SCALE = 58  # parameters of scale [words x 3]
_DOTS = 61  # parameters of block_dot.dots [words x 7]
_SETTLE = 68  # parameters of settle [words x 6]
_POWERS = 74  # parameters of powers [words x 8]
_WEIGHTS = 82  # parameters of weights [words x 7]
_SUMS = 89  # parameters of sums [words x 5]
_FINISH = 94  # parameters of finish [words x 6]

# Parameters of limit, peaks, pack, settle, weights, sums, finish
_X_START = const(0)  # [elements] 0..

# Parameters of limit
_LONGEST = const(1)  # largest number of keys [rows] 0..32767

# Parameters of peaks, pack, settle, weights, sums, finish
_ROWS = const(1)  # of x [rows] 0..

# Parameters of peaks, pack, weights
_X_ROW_STRIDE = const(2)  # [elements] 0..

# Parameters of peaks, pack
_COLUMNS = const(3)  # of x [elements] 0..

# Parameters of settle, sums, finish
_OUT_COLUMNS = const(2)  # [elements] 0..

# Parameters of peaks
_OUT_START = const(4)  # [elements] 0..
_LARGEST = const(5)  # exponent so far; 255: inf or NaN [exponent] 0..255

# Parameters of pack
_W_START = const(4)  # exponents of rows [elements] 0..
_PACK_OUT_START = const(5)  # [elements] 0..
_PACK_OUT_ROW_STRIDE = const(6)  # [elements] 0..
_OUT_STRIDE = const(7)  # from column to column of out [elements] 0..
_ADDEND = const(8)  # added to each mantissa [value] 0, 2**23

# Parameters of scale
_SCALE_OUT_START = const(0)  # [elements] 0..
_ELEMENTS = const(1)  # [elements] 0..
_FACTOR = 2  # 24 fraction bits [multiplier] 2**23..2**24 - 1

# Parameters of settle
_SETTLE_OUT_START = const(3)  # [elements] 0..
_SETTLE_OUT_ROW_STRIDE = const(4)  # [elements] 0..
_SHIFT = 5  # bits of a score below the upper limbs [bits] 1..7

# Parameters of powers
_POWERS_OUT_START = const(0)  # scores [elements] 0..
_SCORES = const(1)  # scores of visible keys [elements] 0..
_POWERS_COLUMNS = const(2)  # elements of the row; those behind the scores become 0 [elements] 0..
_K_EXPONENTS_X_START = const(3)  # [elements] 0..
_V_EXPONENTS_X_START = const(4)  # [elements] 0..
_EXPONENT = 5  # of a product's unit, in 2**-22, + 1024 [exponent] 277..1306
_RESULT_START = const(6)  # three elements of out [elements] 0..
_Q_EXPONENT_X_START = const(7)  # [elements] 0..

# Parameters of weights
_WEIGHTS_W_START = const(3)  # exponents of values [elements] 0..
_WEIGHTS_COLUMNS = const(4)  # [elements] 0..
_WEIGHTS_OUT_START = const(5)  # [elements] 0..
_RESULTS_W_START = const(6)  # results of powers [elements] 0..

# Parameters of sums
_SUMS_OUT_START = const(3)  # [elements] 0..
_IS_FIRST = const(4)  # start new sums [flag] 0, 1

# Parameters of finish
_FINISH_W_START = const(3)  # results of powers [elements] 0..
_FINISH_OUT_START = const(4)  # [elements] 0..
_FINISH_OUT_ROW_STRIDE = const(5)  # [elements] 0..


@inline
def word(v, mask):
    """Return v with its sign, which a 64-bit machine does not extend when it reads a word."""
    v = (v & mask) - ((v >> 31 & 1) * (mask + 1))
    return v


@inline
def fixed(v, s, most):
    """Return t = v * 2**s, clipped to -most - 1 .. most, most = 2**30 - 1. Temporary: s."""
    if s < 0:
        s = 0 - s
        if s > 31:
            s = 31
        t = v >> s
    else:
        if s > 30:
            s = 30
        t = (most >> s) + 1
        if v >= t:
            t = most
        elif v < 0 - t:
            t = 0 - most - 1
        else:
            t = v << s
    return t, s


@inline
def product(x, i, y0, y1, y2):
    """Return the limbs of the sum at x[i] without y0 to y2, the contribution of HALF in w."""
    low, middle, high = x[i] - y0, x[i + 1] - y1, x[i + 2] - y2
    middle += low >> 24
    low = low & 0xFFFFFF
    high += middle >> 24
    middle = middle & 0xFFFFFF
    return low, middle, high


@inline
def added(x, i):
    """Return y0 to y2: the contribution of HALF in w to sums of products, from sum(x) at x[i]."""
    y0 = (x[i] & 1) << 23
    y1 = (x[i] >> 1) + ((x[i + 1] & 1) << 23)
    y2 = x[i + 1] >> 1
    return y0, y1, y2


def attend(p: ptr32, w):
    """Compute units `unit` to unit_end - 1.

    w lists loops peaks, pack, scale, dots, settle, powers, weights, sums, finish, limit, scored,
    seen, the rare loop for inf and NaN; p; q, k, v, scratch, out, lengths, table; then the parts
    of p for the first ten loops.

    Access: of the loops it calls
    """
    limit, scored, seen, special, whole = w[9:14]
    lengths, limit_p = w[19], w[30]
    first_unit = p[_UNIT]
    while p[_UNIT] < p[_UNIT_END]:
        batch = p[_UNIT] // p[_PARTS] // p[_GROUPS]
        i = set_at(p, _BATCH, batch)
        part = p[_UNIT] % p[_PARTS] * p[_PART_QUERIES]
        i = set_at(p, _QUERY, part)
        n = min(p[_QUERIES] - part, p[_PART_QUERIES])
        i = set_at(p, _UNIT_QUERIES, n)
        i = set_at(p, _GROUP, p[_UNIT] // p[_PARTS] % p[_GROUPS])
        before = 1 << 20
        keys = p[_KEYS]
        if p[_HAS_LENGTHS]:
            i = set_at(p, _LIMIT, batch + batch)
            limit(lengths, lengths, whole, limit_p)
            keys = p[_LENGTH]
            before += keys - p[_QUERIES]
        i = set_at(p, _KEYS_BEFORE, before)
        if p[_IS_CAUSAL]:
            keys = max(min(keys, before - (1 << 20) + part + n), 0)
        i = set_at(p, _UNIT_KEYS, keys)
        scored(whole, w)
        if p[_PEAKS + _LARGEST] < 255:
            seen(whole, w)
        else:
            special(whole, w)
        i = set_at(p, _UNIT, p[_UNIT] + 1)
    i = set_at(p, _UNIT, first_unit)


def scored(p: ptr32, w):
    """Compute the exponents and the scores of a unit. w as for attend.

    Access: of the loops it calls
    """
    peaks, pack, scale, dots, settle = w[:5]
    q, k, v, scratch = w[14:18]
    peaks_p, pack_p, scale_p, dots_p, settle_p = w[21:26]
    i = set_at(p, _PEAKS + _LARGEST, 0)
    first = p[_BATCH] * p[_K_BATCH_STRIDE] + p[_GROUP] * p[_K_HEAD_STRIDE]
    i = set_at(p, _PEAKS, first)
    p[i + _ROWS] = p[_UNIT_KEYS]
    p[i + _X_ROW_STRIDE] = p[_K_ROW_STRIDE]
    p[i + _COLUMNS] = p[_KEY_COLUMNS]
    p[i + _OUT_START] = p[_K_EXPONENTS_START]
    peaks(k, k, scratch, peaks_p)
    i = set_at(p, _PEAKS, p[_BATCH] * p[_V_BATCH_STRIDE] + p[_GROUP] * p[_V_HEAD_STRIDE])
    p[i + _X_ROW_STRIDE] = p[_V_ROW_STRIDE]
    p[i + _COLUMNS] = p[_VALUE_COLUMNS]
    p[i + _OUT_START] = p[_V_EXPONENTS_START]
    peaks(v, v, scratch, peaks_p)
    n = p[_UNIT_QUERIES]
    i = set_at(p, _PACK + _ROWS, n)
    p[i + (_X_ROW_STRIDE - _ROWS)] = p[_Q_ROW_STRIDE]
    p[i + (_COLUMNS - _ROWS)] = p[_KEY_COLUMNS]
    p[i + (_PACK_OUT_ROW_STRIDE - _ROWS)] = p[_KEY_COLUMNS]
    p[i + (_OUT_STRIDE - _ROWS)] = 1
    p[i + (_ADDEND - _ROWS)] = 0
    i = set_at(p, _SCALE + _ELEMENTS, n * p[_KEY_COLUMNS])
    head = 0
    while head < p[_HEADS]:
        at = (
            p[_BATCH] * p[_Q_BATCH_STRIDE]
            + (p[_GROUP] * p[_HEADS] + head) * p[_Q_HEAD_STRIDE]
            + p[_QUERY] * p[_Q_ROW_STRIDE]
        )
        i = set_at(p, _PEAKS, at)
        p[i + _ROWS] = n
        p[i + _X_ROW_STRIDE] = p[_Q_ROW_STRIDE]
        p[i + _COLUMNS] = p[_KEY_COLUMNS]
        p[i + _OUT_START] = p[_Q_EXPONENTS_START] + head * n
        peaks(q, q, scratch, peaks_p)
        i = set_at(p, _PACK, at)
        p[i + _W_START] = p[_PEAKS + _OUT_START]
        p[i + _PACK_OUT_START] = p[_Q_START] + head * n * p[_KEY_COLUMNS]
        pack(q, scratch, scratch, pack_p)
        i = set_at(p, _SCALE, p[_PACK + _PACK_OUT_START])
        scale(scratch, scratch, scratch, scale_p)
        head += 1
    i = set_at(p, _PACK + _X_ROW_STRIDE, p[_K_ROW_STRIDE])
    i = set_at(p, _PACK + _PACK_OUT_START, p[_KV_START])
    i = set_at(p, _PACK + _ADDEND, 1 << 23)
    i = set_at(p, _DOTS, p[_Q_START])
    p[i + _ROWS] = p[_HEADS] * n
    p[i + _X_ROW_STRIDE] = p[_KEY_COLUMNS]
    p[i + _COLUMNS] = p[_KEY_COLUMNS]
    i = set_at(p, _SETTLE + _ROWS, p[_DOTS + _ROWS])
    row = 0
    while row < p[_UNIT_KEYS]:
        n = min(p[_UNIT_KEYS] - row, p[_BLOCK_ROWS])
        i = set_at(p, _PACK, first + row * p[_K_ROW_STRIDE])
        p[i + _ROWS] = n
        p[i + _W_START] = p[_K_EXPONENTS_START] + row
        pack(k, scratch, scratch, pack_p)
        i = set_at(p, _DOTS + _CHANNELS, n)
        dots(scratch, scratch, scratch, dots_p)
        i = set_at(p, _SETTLE + _OUT_COLUMNS, n)
        p[i + (_SETTLE_OUT_START - _OUT_COLUMNS)] = p[_SCORES_START] + row
        settle(scratch, scratch, scratch, settle_p)
        row += n


def seen(p: ptr32, w):
    """Compute the powers and the results of a unit. w as for attend.

    Access: of the loops it calls
    """
    pack, dots, powers, weights, sums, finish = w[1], w[3], w[5], w[6], w[7], w[8]
    v, scratch, out, table = w[16], w[17], w[18], w[20]
    pack_p, dots_p, powers_p, weights_p, sums_p, finish_p = (
        w[22],
        w[24],
        w[26],
        w[27],
        w[28],
        w[29],
    )
    rows, row = p[_HEADS] * p[_UNIT_QUERIES], 0
    while row < rows:
        n = p[_UNIT_KEYS]
        if p[_IS_CAUSAL]:
            n = max(
                min(n, p[_KEYS_BEFORE] - (1 << 20) + p[_QUERY] + row % p[_UNIT_QUERIES] + 1), 0
            )
        i = set_at(p, _POWERS, p[_SCORES_START] + row * p[_KEYS])
        p[i + _SCORES] = n
        p[i + _POWERS_COLUMNS] = p[_UNIT_KEYS]
        p[i + _RESULT_START] = p[_RESULTS_START] + 3 * row
        p[i + _Q_EXPONENT_X_START] = p[_Q_EXPONENTS_START] + row
        powers(scratch, table, scratch, powers_p)
        row += 1
    first = p[_BATCH] * p[_V_BATCH_STRIDE] + p[_GROUP] * p[_V_HEAD_STRIDE]
    i = set_at(p, _PACK + _X_ROW_STRIDE, p[_V_ROW_STRIDE])
    p[i + (_COLUMNS - _X_ROW_STRIDE)] = p[_VALUE_COLUMNS]
    p[i + (_PACK_OUT_START - _X_ROW_STRIDE)] = p[_KV_START]
    p[i + (_PACK_OUT_ROW_STRIDE - _X_ROW_STRIDE)] = 1
    i = set_at(p, _DOTS, p[_WEIGHTS_START])
    i = set_at(p, _DOTS + _CHANNELS, p[_VALUE_COLUMNS])
    i = set_at(p, _WEIGHTS + _ROWS, rows)
    i = set_at(p, _SUMS + _ROWS, rows)
    row = 0
    while row < p[_UNIT_KEYS]:
        n = min(p[_UNIT_KEYS] - row, p[_BLOCK_ROWS])
        i = set_at(p, _PACK, first + row * p[_V_ROW_STRIDE])
        p[i + _ROWS] = n
        p[i + _W_START] = p[_V_EXPONENTS_START] + row
        p[i + _OUT_STRIDE] = n
        pack(v, scratch, scratch, pack_p)
        i = set_at(p, _WEIGHTS, p[_SCORES_START] + row)
        p[i + _WEIGHTS_W_START] = p[_V_EXPONENTS_START] + row
        p[i + _WEIGHTS_COLUMNS] = n
        weights(scratch, scratch, scratch, weights_p)
        i = set_at(p, _DOTS + _X_ROW_STRIDE, n)
        p[i + (_COLUMNS - _X_ROW_STRIDE)] = n
        dots(scratch, scratch, scratch, dots_p)
        i = set_at(p, _SUMS + _IS_FIRST, 0 if row else 1)
        sums(scratch, scratch, scratch, sums_p)
        row += n
    head, n = 0, p[_UNIT_QUERIES]
    while head < p[_HEADS]:
        i = set_at(p, _FINISH, p[_SUMS_START] + head * n * 2 * p[_VALUE_COLUMNS])
        p[i + _ROWS] = n
        p[i + _FINISH_W_START] = p[_RESULTS_START] + head * n * 3
        p[i + _FINISH_OUT_START] = (
            p[_BATCH] * p[_OUT_BATCH_STRIDE]
            + (p[_GROUP] * p[_HEADS] + head) * p[_OUT_HEAD_STRIDE]
            + p[_QUERY] * p[_OUT_QUERY_STRIDE]
        )
        finish(scratch, scratch, out, finish_p)
        head += 1


def limit(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Set out[_LENGTH], out being the block of attend, to an int64 of x, clipped to 0 .. longest.

    Access:
        reads x[x_start : x_start + 2]
        writes out[42 : 43]
    """
    mask = all_but_sign()
    i = p[_X_START]
    n = x[i] & mask
    if (x[i + 1] >> 31) & 1:
        n = 0
    elif x[i + 1] or (x[i] >> 31) & 1 or n > p[_LONGEST]:
        n = p[_LONGEST]
    i = _LENGTH
    out[i] = n


def peaks(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write the largest exponent of each row, at least 1; 255: the row has inf or NaN.

    Access:
        reads x[x_start : x_start + (rows - 1) * x_row_stride + columns] if rows
        writes out[out_start : out_start + rows]
        writes p[5 : 6]
    """
    mask = all_but_sign()
    largest = p[_LARGEST]
    at = p[_OUT_START]
    first = p[_X_START]
    for n in range(p[_ROWS], 0, -1):
        most = 1 << 23
        i = first
        end = first + p[_COLUMNS]
        while i < end:
            v = x[i] & mask
            if v > most:
                most = v
            i += 1
        most = most >> 23
        out[at] = most
        if most > largest:
            largest = most
        at += 1
        first += p[_X_ROW_STRIDE]
    i = _LARGEST
    p[i] = largest


def pack(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write rows of floats as mantissas.

    Access:
        reads x[x_start : x_start + (rows - 1) * x_row_stride + columns] if rows
        reads w[w_start : w_start + rows]
        last = (rows - 1) * pack_out_row_stride + (columns - 1) * out_stride
        writes out[pack_out_start : pack_out_start + last + 1] if rows and columns
        given 1 <= w[w_start : w_start + rows] < 255
        given apart((rows, pack_out_row_stride), (columns, out_stride))
    """
    out_row = p[_PACK_OUT_START]
    first = p[_X_START]
    row = p[_W_START]
    out_stride = p[_OUT_STRIDE]
    addend = p[_ADDEND]
    for n in range(p[_ROWS], 0, -1):
        row_exponent = w[row]
        at = out_row
        i = first
        end = first + p[_COLUMNS]
        while i < end:
            v = x[i]
            shift = row_exponent - ((v >> 23) & 255)
            mantissa = addend
            if shift < 24 and shift > 0 - 1 and (v >> 23) & 255:
                shift = ((v & 0x7FFFFF) + 0x800000 + (1 << shift)) >> (shift + 1)
                if shift >> 23:
                    shift -= 1
                if (v >> 31) & 1:
                    mantissa -= shift
                else:
                    mantissa += shift
            out[at] = mantissa
            at += out_stride
            i += 1
        out_row += p[_PACK_OUT_ROW_STRIDE]
        row += 1
        first += p[_X_ROW_STRIDE]


def scale(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Multiply mantissas by the factor.

    Access:
        updates out[scale_out_start : scale_out_start + elements]
        given 0 - (1 << 23) <= out[scale_out_start : scale_out_start + elements] < 1 << 23
    """
    mask = all_but_sign()
    high, low = p[_FACTOR] >> 12, p[_FACTOR] & 4095
    i = p[_SCALE_OUT_START]
    end = i + p[_ELEMENTS]
    while i < end:
        v = out[i]
        v = word(v, mask)
        m, v = v & 4095, v >> 12
        out[i] = v * high + ((v * low + m * high) >> 12)
        i += 1


def settle(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write sums of products as scores.

    Access:
        reads x[x_start : x_start + rows * 3 * (out_columns + 1)]
        last = (rows - 1) * settle_out_row_stride
        writes out[settle_out_start : settle_out_start + last + out_columns]
            if rows and out_columns
        given apart((rows, settle_out_row_stride), (out_columns, 1))
    """
    out_row = p[_SETTLE_OUT_START]
    i = p[_X_START]
    shift = p[_SHIFT]
    for left in range(p[_ROWS], 0, -1):
        y0, y1, y2 = added(x, i)
        i += 3
        at = out_row
        end = at + p[_OUT_COLUMNS]
        while at < end:
            low, middle, high = product(x, i, y0, y1, y2)
            out[at] = (high << (24 + shift)) + (middle << shift) + (low >> (24 - shift))
            at += 1
            i += 3
        out_row += p[_SETTLE_OUT_ROW_STRIDE]


def powers(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write powers of the scores of a row, and three results.

    The results are the exponent of the largest product of a power and a row of values, and the sum
    of the powers as two limbs in units of 2**-15 and 2**-30. w holds 2**(30 - i / 32) for i from 0
    to 31.

    Access:
        requires scores <= powers_columns
        reads x[k_exponents_x_start : k_exponents_x_start + scores]
        reads x[v_exponents_x_start : v_exponents_x_start + scores]
        reads x[q_exponent_x_start : q_exponent_x_start + 1]
        reads w[0 : 32] if scores
        updates out[powers_out_start : powers_out_start + powers_columns]
        writes out[result_start : result_start + 3]
        given 1 <= x[k_exponents_x_start : k_exponents_x_start + scores] < 255
        given 1 <= x[v_exponents_x_start : v_exponents_x_start + scores] < 255
        given 1 <= x[q_exponent_x_start : q_exponent_x_start + 1] < 255
        given 1 << 29 <= w[0 : 32] <= 1 << 30
        given 0 - (1 << 30) <= out[powers_out_start : powers_out_start + powers_columns] < 1 << 30
    """
    mask = all_but_sign()
    most = mask >> 1
    j = p[_Q_EXPONENT_X_START]
    base = p[_EXPONENT] + x[j] - 1024
    less = 0
    largest = most
    n = p[_SCORES]
    while n and (largest == most or largest == 0 - most - 1):
        largest = 0 - most - 1
        i = p[_POWERS_OUT_START]
        j = p[_K_EXPONENTS_X_START]
        end = i + n
        while i < end:
            v = out[i]
            v = word(v, mask)
            shift = base + x[j]
            score, shift = fixed(v, shift, most)
            if score > largest:
                largest = score
            i += 1
            j += 1
        if largest == most or largest == 0 - most - 1:
            base -= 8
            less += 8
            if less > 800:
                n = 0
    less = min(less, 29)
    high = middle = low = exponent = 0
    i = p[_POWERS_OUT_START]
    j = p[_K_EXPONENTS_X_START]
    k_to_v = p[_V_EXPONENTS_X_START] - j
    end = i + n
    while i < end:
        v = out[i]
        v = word(v, mask)
        shift = base + x[j]
        score, shift = fixed(v, shift, most)
        v = largest - score
        power = 0
        if v >> (29 - less) == 0:
            v = v << less
            shift, power = v >> 22, w[(v >> 17) & 31]
            v = v & 0x1FFFF
            v = (v * 11356 + (v >> 1)) >> 14
            a = (v >> 2) * (v >> 2)
            v = (v << 2) - (a >> 17) + (((a >> 15) * (v >> 2) >> 21) * 43 >> 8)
            a = (power >> 15) * (v >> 5) + ((power & 32767) * (v >> 5) >> 15)
            power -= (a >> 4) + ((power >> 15) * (v & 31) >> 9)
            if shift < 15:
                low += (power & ((1 << shift) - 1)) << (15 - shift)
            elif shift < 46:
                low += (power >> (shift - 15)) & 32767
            a = power >> shift if shift < 31 else 0
            middle += a & 32767
            high += a >> 15
            if power >> 30:
                power = 1 << 29
                shift -= 1
            if shift < 125:
                power = ((power + 32) >> 6) + ((125 - shift) << 23)
                shift = (power >> 23) + x[j + k_to_v]
                if shift > exponent:
                    exponent = shift
            else:
                power = 0
        out[i] = power
        i += 1
        j += 1
    end = p[_POWERS_OUT_START] + p[_POWERS_COLUMNS]
    while i < end:
        out[i] = 0
        i += 1
    middle += low >> 15
    i = p[_RESULT_START]
    out[i] = exponent
    out[i + 1] = high + (middle >> 15)
    out[i + 2] = middle & 32767


def weights(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write powers as mantissas.

    Access:
        n = weights_columns
        reads x[x_start : x_start + (rows - 1) * x_row_stride + n] if rows and n
        reads w[weights_w_start : weights_w_start + n] if rows
        reads w[results_w_start : results_w_start + 3 * (rows - 1) + 1] if rows
        writes out[weights_out_start : weights_out_start + rows * n]
        given 0 <= x[x_start : x_start + (rows - 1) * x_row_stride + n] < 1 << 30 if rows and n
        given 1 <= w[weights_w_start : weights_w_start + n] < 255
        given 1 <= w[results_w_start + 3 * i : results_w_start + 3 * i + 1] <= 400
            for i in range(rows)
        given results_w_start + 3 * rows <= weights_w_start
            or weights_w_start + n <= results_w_start
    """
    first = p[_X_START]
    at = p[_WEIGHTS_OUT_START]
    result = p[_RESULTS_W_START]
    for row in range(p[_ROWS], 0, -1):
        exponent = w[result] + 1
        i = first
        end = first + p[_WEIGHTS_COLUMNS]
        j = p[_WEIGHTS_W_START]
        while i < end:
            mantissa = x[i]
            if mantissa:
                shift = exponent - (mantissa >> 23) - w[j]
                mantissa = (mantissa & 0x7FFFFF) + 0x800000
                mantissa = (
                    (mantissa + (1 << shift >> 1)) >> shift if shift < 26 and shift > 0 - 1 else 0
                )
                if mantissa >> 23:
                    mantissa = (1 << 23) - 1
            out[at] = mantissa
            at += 1
            i += 1
            j += 1
        first += p[_X_ROW_STRIDE]
        result += 3


def sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Accumulate products of weights and values, each sum as a limb of 15 bits and the upper part.

    Access:
        reads x[x_start : x_start + 3 * rows * (out_columns + 1)]
        updates out[sums_out_start : sums_out_start + 2 * rows * out_columns]
    """
    i = p[_X_START]
    at = p[_SUMS_OUT_START]
    for left in range(p[_ROWS], 0, -1):
        y0, y1, y2 = added(x, i)
        i += 3
        for n in range(p[_OUT_COLUMNS], 0, -1):
            low, middle, high = product(x, i, y0, y1, y2)
            low = (high << 27) + (middle << 3) + (low >> 21)
            if p[_IS_FIRST]:
                out[at] = low & 32767
                out[at + 1] = low >> 15
            else:
                out[at] = out[at] + (low & 32767)
                out[at + 1] = out[at + 1] + (low >> 15)
            at += 2
            i += 3


def finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Write the quotients as float32.

    Access:
        reads x[x_start : x_start + 2 * rows * out_columns]
        reads w[finish_w_start : finish_w_start + 3 * rows]
        n = (rows - 1) * finish_out_row_stride + out_columns
        writes out[finish_out_start : finish_out_start + n] if rows
        pairs = [x_start + 2 * i for i in range(rows * out_columns)]
        given 0 <= x[i : i + 1] < 1 << 20 for i in pairs
        given 0 - (1 << 20) <= x[i + 1 : i + 2] < 1 << 20 for i in pairs
        results = [finish_w_start + 3 * i for i in range(rows)]
        given 1 <= w[i : i + 1] <= 400 for i in results
        given (i % 4 > 0) << 15 <= w[i + 1 : i + 2] <= (i % 4 > 0) << 21 for i in results
        given 0 <= w[i + 2 : i + 3] < 1 << 15 for i in results
        given apart((rows, finish_out_row_stride), (out_columns, 1))
    """
    mask = all_but_sign()
    j = p[_FINISH_W_START]
    i = p[_X_START]
    first = p[_FINISH_OUT_START]
    for row in range(p[_ROWS], 0, -1):
        shift = inverse = 0
        high = w[j + 1]
        while high >> shift > 32767:
            shift += 1
        if high:
            total = (high << (15 - shift)) | (w[j + 2] >> shift)
            rest = 1 << 29
            n = 30
            while n:
                rest, inverse = rest << 1, inverse << 1
                if rest >= total:
                    rest -= total
                    inverse += 1
                n -= 1
        base = w[j] - 120 - shift
        inverse_high, inverse_low = inverse >> 15, inverse & 32767
        at = first
        end = first + p[_OUT_COLUMNS]
        while at < end:
            v, low = x[i + 1], x[i]
            v = word(v, mask)
            v += low >> 15
            low = low & 32767
            sign = 0
            if v < 0:
                sign = 1
                v = 0 - v
                if low:
                    v -= 1
                    low = 32768 - low
            exponent = base
            while v > 32767:
                low = (low >> 1) | ((v & 1) << 14)
                v = v >> 1
                exponent += 1
            v = (v << 15) | low
            result = 0
            if v and inverse:
                v, exponent = normalize(v, exponent, 29)
                low, v = v & 32767, v >> 15
                v = v * inverse_high + (
                    (v * inverse_low + low * inverse_high + (low * inverse_low >> 15)) >> 15
                )
                if v >> 29 == 0:
                    v = v << 1
                    exponent -= 1
                if exponent > 254:
                    result = mask - 0x800000
                elif exponent > 0:
                    result = ((v + 32) >> 6) + ((exponent - 1) << 23)
                if sign:
                    result -= mask + 1
            out[at] = result
            at += 1
            i += 2
        first += p[_FINISH_OUT_ROW_STRIDE]
        j += 3
