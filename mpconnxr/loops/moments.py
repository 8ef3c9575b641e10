"""Mean and variance of a row of float32, on the bits.

centre    Set out[i] to x[i] as an integer of 29 bits and the sign, + 2**29; set exponent, mean,
          mean_rest and headroom of the row. If exponent is 255, nothing else is valid.
squares   Set out[i] to (x[i] - mean) << headroom, + 2**30, x from centre; set the sum of the
          squares of 24 bits of these.
inverse   Set inverse = 1 / sqrt(sum / columns + epsilon), and product_exponent.
scaled    Set out[i] to x[i] * inverse as float32, x from squares; to NaN if inverse is 0.
rows      Call these for each row, then loops that multiply by a scale and add a bias. A row with
          inf or NaN is left to loops/moments_special.

x and out hold float32 as words; w is not read. Other results are written to p.
"""

from ._floats import first_bit, largest_bits, normalize, unpack
from ._words import all_but_sign, bit, nan_bits, set_at, signed, split_sign, swap

# Parameters of centre, squares, inverse, scaled, rows
_X_START = 0  # start of the row, in x and in out [elements] 0..
_COLUMNS = 1  # [elements] 1..32767
_IS_CENTRED = 2  # subtract the mean of the row [flag] 0, 1
_EPSILON = 3  # [float bits] 0..2139095039
_EXPONENT = 4  # of the largest element; 255: inf or NaN [exponent] 0..255
_MEAN = const(5)  # of the integers that centre makes [value + 2**29] 0..
_MEAN_REST = const(6)  # 28 fraction bits of the mean [value] 0..2**28 - 1
_HEADROOM = const(7)  # left shift of deviations in squares [bits] 0..23

# Parameters of squares, inverse, scaled, rows
_SUM_HIGH = const(8)  # of the squares: limbs of 24 bits [value] 0..
_SUM_MIDDLE = const(9)  # [value] 0..2**24 - 1
_SUM_LOW = const(10)  # [value] 0..2**24 - 1

# Parameters of inverse, scaled, rows
_INVERSE = 11  # 30 bits of 1 / deviation; 0: the deviation is 0 [value] 0..2**30 - 1
_PRODUCT_EXPONENT = 12  # exponent of an integer times inverse, + 1024 [exponent] 0..2047

# Parameters of rows
_ROW = 13  # next row [rows] 0..
_ROW_END = 14  # end, exclusive [rows] 0..
_PERIOD = 15  # period of the factors [rows] 1..
_FACTOR_ROW_STRIDE = 16  # from row to row of the factors [elements] 0..
_PAIRS_X_START = 17  # parameters of mul and add, as _words.pairs: start [elements] 0..
_PAIRS_X_ROW_STRIDE = 18  # [elements] 0..
_PAIRS_X_STRIDE = const(19)  # [elements] 1
_PAIRS_W_START = const(20)  # [elements] 0..
_PAIRS_W_ROW_STRIDE = const(21)  # [elements] 0, 1
_PAIRS_W_STRIDE = const(22)  # [elements] 0, 1
_PAIRS_OUT_START = const(23)  # [elements] 0..
_PAIRS_ROWS = const(24)  # [rows] 1..
_PAIRS_COLUMNS = const(25)  # [elements] 1..
_PAIRS_KIND = const(26)  # last parameter of mul and add [flag] 0
_FACTORS = 27  # 1: scale; 2: scale and bias [tensors] 0..2


def rows(p: ptr32, w):
    """Normalize rows `row` to row_end - 1.

    w lists loops centre, squares, inverse, scaled and the rare loop for inf and NaN; p; x, out;
    both as floats; the parameters of mul and add; then mul, scale; add, bias.

    Access: of the loops it calls
    """
    centre, squares, inverse, scaled, special, whole = w[:6]
    x, out, floats, pairs_p = w[6], w[7], w[9], w[10]
    first_row = p[_ROW]
    while p[_ROW] < p[_ROW_END]:
        first = p[_ROW] * p[_COLUMNS]
        i = set_at(p, _X_START, first)
        i = set_at(p, _PAIRS_X_START, first)
        i = set_at(p, _PAIRS_W_START, p[_ROW] % p[_PERIOD] * p[_FACTOR_ROW_STRIDE])
        i = set_at(p, _PAIRS_OUT_START, first)
        centre(x, out, out, whole)
        if p[_EXPONENT] == 255:
            special(whole, w)
        else:
            squares(out, out, out, whole)
            inverse(out, out, out, whole)
            scaled(out, out, out, whole)
            if p[_FACTORS] > 0:
                mul, factor = w[11], w[12]
                mul(floats, factor, floats, pairs_p)
            if p[_FACTORS] > 1:
                add, factor = w[13], w[14]
                add(floats, factor, floats, pairs_p)
        i = set_at(p, _ROW, p[_ROW] + 1)
    i = set_at(p, _ROW, first_row)


def centre(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Convert a row to integers and find its mean.

    Access:
        reads x[x_start : x_start + columns]
        writes out[x_start : x_start + columns]
        writes p[4 : 8]
    """
    mask = all_but_sign()
    most, i = 0, p[_X_START]
    end = i + p[_COLUMNS]
    most, i, v = largest_bits(most, x, i, end, mask)
    place, exponent = _EXPONENT, most >> 23
    if exponent == 0:
        exponent = 1
    p[place] = exponent
    i = p[_X_START] if exponent < 255 else end
    most, least, high = 0, mask, 0
    low = 0
    while i < end:
        v = x[i]
        element, shift = unpack(v)
        element, shift = first_bit(element, shift)
        shift = exponent - shift
        element = signed(
            ((element << 5) + (1 << shift >> 1)) >> shift if shift < 30 else 0, (v >> 31) & 1
        )
        element += 1 << 29
        out[i] = element
        low += element & 32767
        high += element >> 15
        most = max(element, most)
        least = min(element, least)
        i += 1
    place += 1  # the mean
    if p[_IS_CENTRED]:
        high += low >> 15
        low = ((high % p[_COLUMNS]) << 15) + (low & 32767)
        element = (high // p[_COLUMNS] << 15) + low // p[_COLUMNS]
        p[place] = element
        place += 1  # its rest
        low = low % p[_COLUMNS] << 14
        p[place] = (low // p[_COLUMNS] << 14) + (low % p[_COLUMNS] << 14) // p[_COLUMNS]
        most = most - element if most - element > element - least else element - least
        shift = 0
        while shift < 23 and most < 1 << (28 - shift):
            shift += 1
    else:
        p[place] = 1 << 29
        place += 1  # its rest
        shift = 0
        p[place] = shift
    place += 1  # the headroom
    p[place] = shift


def squares(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Subtract the mean and sum the squares.

    Access:
        reads x[x_start : x_start + columns]
        writes out[x_start : x_start + columns]
        writes p[8 : 11]
        given mean <= 1 << 30
        given mean_rest == 0 or headroom > 0
        given max(mean - ((1 << 29) >> headroom), 0) <= x[x_start : x_start + columns]
            <= min(mean + ((1 << 29) >> headroom), 1 << 30)
    """
    mean, shift = p[_MEAN], p[_HEADROOM]
    rest = p[_MEAN_REST] >> (28 - shift)
    one = bit(30)
    high = middle = low = 0
    i = p[_X_START]
    end = i + p[_COLUMNS]
    while i < end:
        v = ((x[i] - mean) << shift) - rest
        out[i] = v + one
        v = abs(v)
        v = (v + 16) >> 5
        upper, v = v >> 12, v & 4095
        cross = upper * v
        low += ((cross & 2047) << 13) + v * v
        middle += upper * upper + (cross >> 11) + (low >> 24)
        low = low & 0xFFFFFF
        high += middle >> 24
        middle = middle & 0xFFFFFF
        i += 1
    i = set_at(p, _SUM_HIGH, high)
    i += 1
    p[i] = middle
    i += 1
    p[i] = low


def inverse(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute the inverse of the deviation.

    Access:
        writes p[11 : 13]
        given sum_high < 1 << 16
    """
    a = p[_SUM_HIGH]  # the 30 highest bits of the sum, times 2**e
    b, c, exponent = p[_SUM_MIDDLE], p[_SUM_LOW], 48
    while exponent > 0 and a < 1 << 24:
        a = (a << 1) | (b >> 23)
        b = ((b << 1) & 0xFFFFFF) | (c >> 23)
        c = (c << 1) & 0xFFFFFF
        exponent -= 1
    a = (a << 5) | (b >> 19)
    exponent -= 5
    c, a = a % p[_COLUMNS], a // p[_COLUMNS]
    exponent += 2 * (p[_EXPONENT] - 150 - p[_HEADROOM])
    epsilon, k = (p[_EPSILON] & 0x7FFFFF) << 6, p[_EPSILON] >> 23
    if k:
        epsilon += 1 << 29
        k -= 1
    k -= 155
    while a and a < 1 << 29:
        c, a = c << 1, a << 1
        exponent -= 1
        if c >= p[_COLUMNS]:
            c -= p[_COLUMNS]
            a += 1
    while epsilon and epsilon < 1 << 29:
        epsilon = epsilon << 1
        k -= 1
    if a == 0 or epsilon and k > exponent:
        a, epsilon, b = swap(a, epsilon)
        exponent, k, b = swap(exponent, k)
    if epsilon and exponent - k < 30:
        a += epsilon >> (exponent - k)
    if a >> 30 or exponent & 1:
        a = a >> 1
        exponent += 1
    if exponent & 1:
        a = a >> 1
        exponent += 1
    c = 0  # square root of a * 2**24, two bits at a time
    b, n = 0, 27
    while n:
        n -= 1
        k = n + n - 24
        c = (c << 2) | ((a >> k if k > 0 - 1 else 0) & 3)
        b = b << 1
        if c > b + b:
            c -= b + b + 1
            b += 1
    a, c = 0, 1 << 26
    for n in range(30, 0, -1):
        c, a = c << 1, a << 1
        if c >= b and b:
            c -= b
            a += 1
    i = set_at(p, _INVERSE, a if b else 0)
    i = set_at(p, _PRODUCT_EXPONENT, 1024 + p[_EXPONENT] - 13 - p[_HEADROOM] - (exponent >> 1))


def scaled(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Multiply the row by the inverse.

    Access:
        reads x[x_start : x_start + columns]
        writes out[x_start : x_start + columns]
        given (1 << 29) <= x[x_start : x_start + columns] <= 3 << 29
        given inverse == 0 or inverse >= 1 << 29
    """
    one = 1
    top, one = one << 31, one << 30
    nan = nan_bits()
    inverse_high, inverse_low, product_exponent = (
        p[_INVERSE] >> 15,
        p[_INVERSE] & 32767,
        p[_PRODUCT_EXPONENT] - 1024,
    )
    i = p[_X_START]
    end = i + p[_COLUMNS]
    while i < end:
        v = x[i] - one
        v, sign = split_sign(v)
        high = v >> 15
        v = v & 32767
        v = high * inverse_high + (
            (v * inverse_high + high * inverse_low + (v * inverse_low >> 15)) >> 15
        )
        exponent = product_exponent
        if v:
            v, exponent = normalize(v, exponent, 29)
            v = ((v + 32) >> 6) + ((exponent - 1) << 23) if exponent > 0 else 0
            if exponent > 254:
                v = nan - (1 << 22)
        if sign:
            v -= top
        out[i] = v if p[_INVERSE] else nan
        i += 1
