"""Snippets about words, and about what viper cannot say in one statement."""


@inline
def bit(v, n):
    """1 << n, in two steps: the folding of constants makes big integers from 30 on."""
    v = 1
    v = v << n


@inline
def all_but_sign(mask):
    """2**31 - 1, see bit."""
    mask = 1
    mask = (mask << 31) - 1


@inline
def set_at(items, index, at, value):
    """items[at] = value: some compilers write elsewhere if the index is a number."""
    at = index
    items[at] = value


@inline
def nan_bits(nan):
    """0x7FC00000, see bit."""
    nan = 0x1FF
    nan = nan << 22


@inline
def swap(a, b, spare):
    spare = a
    a = b
    b = spare


@inline
def split_sign(v, sign):
    sign = 0
    if v < 0:
        v, sign = 0 - v, 1


@inline
def signed(v, size, is_negative):
    """v = size, or less than 0 by that."""
    v = size
    if is_negative:
        v = 0 - v


@inline
def quotient(q, a, b, left):
    """Puts bits of a / b behind those of q, as many as left says; a < 2 * b."""
    while left:
        q = q << 1
        if a >= b:
            a -= b
            q += 1
        a = a << 1
        left -= 1


@inline
def pairs(i, j, k, end, last):
    """Runs for item i of x and j of w, which become k of out: p as loops/add has it."""
    end, last = k + p[8], k + p[7] * p[8]
    while k < last:
        yield
        i += p[2]
        j += p[5]
        k += 1
        if k == end:
            i += p[1] - p[8] * p[2]
            j += p[4] - p[8] * p[5]
            end = k + p[8]


@inline
def rows_of_pairs(i, j, k, end, rows, x_step, w_step):
    """The same, in a loop over rows and one over their items."""
    while rows:
        end = k + p[8]
        while k < end:
            yield
            i += x_step
            j += w_step
            k += 1
        i += p[1] - p[8] * p[2]
        j += p[4] - p[8] * p[5]
        rows -= 1


@inline
def put_limbs(items, at, total):
    """The limbs of a sum, 24, 24 and 16 bits, of a word of 64."""
    items[at] = total & 0xFFFFFF
    items[at + 1] = (total >> 24) & 0xFFFFFF
    items[at + 2] = (total >> 48) & 0xFFFF
    at += 3


@inline
def start_sums(o, i, low, high):
    """Sum of x up to end in limbs, which go to o; it starts with 2**40."""
    while int(x) < end:
        low += x[0]
        high += low >> 24
        low = low & 0xFFFFFF
        x = ptr32(int(x) + 4)
    o[i] = low
    o[i + 1] = high
    o[i + 2] = 0
    i += 3


@inline
def times_multiplier(v, high, low, part, more):
    """v = v * M / 2**27, cut off, M = 2**15 * high + low; more: not 0 if anything was cut off.

    v: up to 2**25 in magnitude; part: room. high and low are used up.
    """
    part = v & 4095
    v = v >> 12
    more = part * low
    low = v * low + (more >> 12)
    part = part * high + (low >> 3)
    v = v * high + (part >> 12)
    more = ((more | part) & 4095) | (low & 7)


@inline
def index_of(v, items, at, size, minus, sign, good):
    """v = the index at items[at], counted from 0; else 0, and p[count] = 1. p[minus] is -1.

    words: of an index. p[own]: makes a word that wraps at 32 bits of it on every machine.
    """
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
