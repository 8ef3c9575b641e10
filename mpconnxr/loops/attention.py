"""Attention of float32 in block floating point, some rows of keys or values at a time.

peaks    exponents of rows of floats
pack     rows of floats as mantissas of 24 bits, as loops/block_dot takes them
scale    mantissas times a factor
settle   products of queries and keys, from loops/block_dot, as words: scores
powers   2**(score - largest score) as float32, and what shares are made of these
weights  these as mantissas, with the exponents of the rows of values
sums     adds up products of weights and values, from loops/block_dot
finish   the sums, divided by those of the powers, as float32
limit    a number of rows that a tensor says
attend   all of it: see ops/attention

Queries come multiplied by scale / ln(2), so that powers are of two. 22 bits of a score are behind
its point, and fewer where scores are large. Written once, in the common subset of Python and
viper. A word of scratch may be anything: shifts are bounded, nothing is indexed by it.
"""

from ._floats import normalize
from ._hints import inline
from ._words import all_but_sign, set_at


@inline
def word(v, mask):
    """Return v with its sign: a 64-bit machine reads a word without."""
    v = (v & mask) - ((v >> 31 & 1) * (mask + 1))
    return v


@inline
def fixed(v, s, most):
    """Return t = v * 2**s, from -most - 1 to most, which is 2**30 - 1. s: room."""
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
    """Return the limbs of the sum at x[i], without what HALF in w adds to it: y0 to y2."""
    low, middle, high = x[i] - y0, x[i + 1] - y1, x[i + 2] - y2
    middle += low >> 24
    low = low & 0xFFFFFF
    high += middle >> 24
    middle = middle & 0xFFFFFF
    return low, middle, high


@inline
def added(x, i):
    """Return what HALF in w adds to sums of products, of the sum at x[i]."""
    y0 = (x[i] & 1) << 23
    y1 = (x[i] >> 1) + ((x[i + 1] & 1) << 23)
    y2 = x[i + 1] >> 1
    return y0, y1, y2


def attend(p: ptr32, w):
    """All queries of units p[0] to p[1]: a batch's group of heads, and some of its queries.

    p    2 parts of the queries, groups, heads a group, queries, those of a part, keys, K of keys,
         of values; 10 whether it is causal, whether limit says how many keys count, rows at once;
         13 steps of q: batch, head, row; 16 k; 19 v; 22 out; 25 room: of the unit its batch, first
         query, number of these, keys, group, keys that come before the queries + 2**20; then in
         scratch: 31 exponents of k, of v, of q, 34 queries, scores, 36 keys or values, weights,
         38 sums, what powers says; then what the loops take: 40 limit, 43 peaks, 49 pack, 58
         scale, 61 dots, 68 settle, 74 powers, 82 weights, 89 sums, 94 finish
    w    loops peaks, pack, scale, dots, settle, powers, weights, sums, finish, limit, scored,
         seen, special; p; 14 q, k, v, scratch, out, lengths, table; 21 parameters of the first
         ten loops

    Access: of the loops it calls
    """
    limit, scored, seen, special, whole = w[9:14]
    lengths, limit_p = w[19], w[30]
    while p[0] < p[1]:
        b = p[0] // p[2] // p[3]
        i = set_at(p, 25, b)
        part = p[0] % p[2] * p[6]
        i = set_at(p, 26, part)
        n = min(p[5] - part, p[6])
        i = set_at(p, 27, n)
        i = set_at(p, 29, p[0] // p[2] % p[3])
        before = 1 << 20
        keys = p[7]
        if p[11]:
            i = set_at(p, 40, b + b)
            limit(lengths, lengths, whole, limit_p)
            keys = p[42]
            before += keys - p[5]
        i = set_at(p, 30, before)
        if p[10]:
            keys = max(min(keys, before - (1 << 20) + part + n), 0)
        i = set_at(p, 28, keys)
        scored(whole, w)
        if p[48] < 255:
            seen(whole, w)
        else:
            special(whole, w)
        i = set_at(p, 0, p[0] + 1)


def scored(p: ptr32, w):
    """Exponents of queries, keys and values, and scores. p, w: of attend

    Access: of the loops it calls
    """
    peaks, pack, scale, dots, settle = w[:5]
    q, k, v, scratch = w[14:18]
    peaks_p, pack_p, scale_p, dots_p, settle_p = w[21:26]
    i = set_at(p, 48, 0)
    first = p[25] * p[16] + p[29] * p[17]
    i = set_at(p, 43, first)
    p[i + 1] = p[28]
    p[i + 2] = p[18]
    p[i + 3] = p[8]
    p[i + 4] = p[31]
    peaks(k, k, scratch, peaks_p)
    i = set_at(p, 43, p[25] * p[19] + p[29] * p[20])
    p[i + 2] = p[21]
    p[i + 3] = p[9]
    p[i + 4] = p[32]
    peaks(v, v, scratch, peaks_p)
    n = p[27]
    i = set_at(p, 50, n)
    p[i + 1] = p[15]
    p[i + 2] = p[8]
    p[i + 5] = p[8]
    p[i + 6] = 1
    p[i + 7] = 0
    i = set_at(p, 59, n * p[8])
    head = 0
    while head < p[4]:
        at = p[25] * p[13] + (p[29] * p[4] + head) * p[14] + p[26] * p[15]
        i = set_at(p, 43, at)
        p[i + 1] = n
        p[i + 2] = p[15]
        p[i + 3] = p[8]
        p[i + 4] = p[33] + head * n
        peaks(q, q, scratch, peaks_p)
        i = set_at(p, 49, at)
        p[i + 4] = p[47]
        p[i + 5] = p[34] + head * n * p[8]
        pack(q, scratch, scratch, pack_p)
        i = set_at(p, 58, p[54])
        scale(scratch, scratch, scratch, scale_p)
        head += 1
    i = set_at(p, 51, p[18])
    i = set_at(p, 54, p[36])
    i = set_at(p, 57, 1 << 23)
    i = set_at(p, 61, p[34])
    p[i + 1] = p[4] * n
    p[i + 2] = p[8]
    p[i + 3] = p[8]
    i = set_at(p, 69, p[62])
    row = 0
    while row < p[28]:
        n = min(p[28] - row, p[12])
        i = set_at(p, 49, first + row * p[18])
        p[i + 1] = n
        p[i + 4] = p[31] + row
        pack(k, scratch, scratch, pack_p)
        i = set_at(p, 66, n)
        dots(scratch, scratch, scratch, dots_p)
        i = set_at(p, 70, n)
        p[i + 1] = p[35] + row
        settle(scratch, scratch, scratch, settle_p)
        row += n


def seen(p: ptr32, w):
    """Powers of the scores, and the values that they weigh. p, w: of attend

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
    rows, row = p[4] * p[27], 0
    while row < rows:
        n = p[28]
        if p[10]:
            n = max(min(n, p[30] - (1 << 20) + p[26] + row % p[27] + 1), 0)
        i = set_at(p, 74, p[35] + row * p[7])
        p[i + 1] = n
        p[i + 2] = p[28]
        p[i + 6] = p[39] + 3 * row
        p[i + 7] = p[33] + row
        powers(scratch, table, scratch, powers_p)
        row += 1
    first = p[25] * p[19] + p[29] * p[20]
    i = set_at(p, 51, p[21])
    p[i + 1] = p[9]
    p[i + 3] = p[36]
    p[i + 4] = 1
    i = set_at(p, 61, p[37])
    i = set_at(p, 66, p[9])
    i = set_at(p, 83, rows)
    i = set_at(p, 90, rows)
    row = 0
    while row < p[28]:
        n = min(p[28] - row, p[12])
        i = set_at(p, 49, first + row * p[21])
        p[i + 1] = n
        p[i + 4] = p[32] + row
        p[i + 7] = n
        pack(v, scratch, scratch, pack_p)
        i = set_at(p, 82, p[35] + row)
        p[i + 3] = p[32] + row
        p[i + 4] = n
        weights(scratch, scratch, scratch, weights_p)
        i = set_at(p, 63, n)
        p[i + 1] = n
        dots(scratch, scratch, scratch, dots_p)
        i = set_at(p, 93, 0 if row else 1)
        sums(scratch, scratch, scratch, sums_p)
        row += n
    head, n = 0, p[27]
    while head < p[4]:
        i = set_at(p, 94, p[38] + head * n * 2 * p[9])
        p[i + 1] = n
        p[i + 3] = p[39] + head * n * 3
        p[i + 4] = p[25] * p[22] + (p[29] * p[4] + head) * p[23] + p[26] * p[24]
        finish(scratch, scratch, out, finish_p)
        head += 1


def limit(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """out[42] = the int64 at word p[0] of x, from 0 to p[1].

    Access:
        reads x[p[0] : p[0] + 2]
        writes out[42 : 43]
    """
    mask = all_but_sign()
    i = p[0]
    n = x[i] & mask
    if (x[i + 1] >> 31) & 1:
        n = 0
    elif x[i + 1] or (x[i] >> 31) & 1 or n > p[1]:
        n = p[1]
    i = 42
    out[i] = n


def peaks(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first item, rows, items from row to row, K, first item of out for biased exponents (1 to
    255: inf or nan), the largest so far

    Access:
        n = p[1]
        reads x[p[0] : p[0] + (n - 1) * p[2] + p[3]] if n
        writes out[p[4] : p[4] + n]
        writes p[5 : 6]
    """
    mask = all_but_sign()
    largest = p[5]
    at = p[4]
    first = p[0]
    for n in range(p[1], 0, -1):
        most = 1 << 23
        i = first
        end = first + p[3]
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
        first += p[2]
    i = 5
    p[i] = largest


def pack(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first item, rows, items from row to row, K, first exponent in w, first item of out, its
    items from row to row and from item to item, what is added

    Access:
        n, k = p[1], p[3]
        reads x[p[0] : p[0] + (n - 1) * p[2] + k] if n
        reads w[p[4] : p[4] + n]
        writes out[p[5] : p[5] + (n - 1) * p[6] + (k - 1) * p[7] + 1] if n and k
    """
    line = p[5]
    first = p[0]
    row = p[4]
    step = p[7]
    plus = p[8]
    for n in range(p[1], 0, -1):
        block = w[row]
        at = line
        i = first
        end = first + p[3]
        while i < end:
            v = x[i]
            e = block - ((v >> 23) & 255)
            m = plus
            if e < 24 and e > 0 - 1 and (v >> 23) & 255:
                e = ((v & 0x7FFFFF) + 0x800000 + (1 << e)) >> (e + 1)
                if e >> 23:
                    e -= 1
                if (v >> 31) & 1:
                    m -= e
                else:
                    m += e
            out[at] = m
            at += step
            i += 1
        line += p[6]
        row += 1
        first += p[2]


def scale(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first item, items, 24 bits of a factor below 1

    Access:
        updates out[p[0] : p[0] + p[1]]
    """
    mask = all_but_sign()
    high, low = p[2] >> 12, p[2] & 4095
    i = p[0]
    end = i + p[1]
    while i < end:
        v = out[i]
        v = word(v, mask)
        m, v = v & 4095, v >> 12
        out[i] = v * high + ((v * low + m * high) >> 12)
        i += 1


def settle(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first of what dots makes of p[1] rows of x and p[2] of w, first item of out, items of it
    from row to row, bits of a score behind 24 + these

    Access:
        n = 3 * (p[2] + 1)
        reads x[p[0] : p[0] + p[1] * n]
        writes out[p[3] : p[3] + (p[1] - 1) * p[4] + p[2]] if p[1] and p[2]
    """
    line = p[3]
    i = p[0]
    r = p[5]
    for m in range(p[1], 0, -1):
        y0, y1, y2 = added(x, i)
        i += 3
        at = line
        end = at + p[2]
        while at < end:
            low, middle, high = product(x, i, y0, y1, y2)
            out[at] = (high << (24 + r)) + (middle << r) + (low >> (24 - r))
            at += 1
            i += 3
        line += p[4]


def powers(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first score, those that count, all, first exponent of k, of v, exponent of the product of
    units of 2**-22 + 1024, first of three items for what it says, exponent of q

    It says the largest of power times row of values, as exponent, and the powers' sum in limbs,
    units of 2**-15 and 2**-30. w: 2**(30 - i / 32) for i from 0 to 31

    Access:
        n = p[1]
        requires n <= p[2]
        reads x[p[3] : p[3] + n]
        reads x[p[4] : p[4] + n]
        reads x[p[7] : p[7] + 1]
        reads w[0 : 32] if n
        updates out[p[0] : p[0] + p[2]]
        writes out[p[6] : p[6] + 3]
    """
    mask = all_but_sign()
    most = mask >> 1
    j = p[7]
    base = p[5] + x[j] - 1024
    less = 0
    largest = most
    n = p[1]
    while n and (largest == most or largest == 0 - most - 1):
        largest = 0 - most - 1
        i = p[0]
        j = p[3]
        end = i + n
        while i < end:
            v = out[i]
            v = word(v, mask)
            s = base + x[j]
            t, s = fixed(v, s, most)
            if t > largest:
                largest = t
            i += 1
            j += 1
        if largest == most or largest == 0 - most - 1:
            base -= 8
            less += 8
            if less > 800:
                n = 0
    less = min(less, 29)
    high = middle = low = exponent = 0
    i = p[0]
    j = p[3]
    k_to_v = p[4] - j
    end = i + n
    while i < end:
        v = out[i]
        v = word(v, mask)
        s = base + x[j]
        t, s = fixed(v, s, most)
        v = largest - t
        r = 0
        if v >> (29 - less) == 0:
            v = v << less
            s, r = v >> 22, w[(v >> 17) & 31]
            v = v & 0x1FFFF
            v = (v * 11356 + (v >> 1)) >> 14
            a = (v >> 2) * (v >> 2)
            v = (v << 2) - (a >> 17) + (((a >> 15) * (v >> 2) >> 21) * 43 >> 8)
            a = (r >> 15) * (v >> 5) + ((r & 32767) * (v >> 5) >> 15)
            r -= (a >> 4) + ((r >> 15) * (v & 31) >> 9)
            if s < 15:
                low += (r & ((1 << s) - 1)) << (15 - s)
            elif s < 46:
                low += (r >> (s - 15)) & 32767
            a = r >> s if s < 31 else 0
            middle += a & 32767
            high += a >> 15
            if r >> 30:
                r = 1 << 29
                s -= 1
            if s < 125:
                r = ((r + 32) >> 6) + ((125 - s) << 23)
                s = (r >> 23) + x[j + k_to_v]
                if s > exponent:
                    exponent = s
            else:
                r = 0
        out[i] = r
        i += 1
        j += 1
    end = p[0] + p[2]
    while i < end:
        out[i] = 0
        i += 1
    middle += low >> 15
    i = p[6]
    out[i] = exponent
    out[i + 1] = high + (middle >> 15)
    out[i + 2] = middle & 32767


def weights(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first power, rows of them, items from row to row, first exponent of v, rows of these,
    first item of out, first of what powers says

    Access:
        rows, n = p[1], p[4]
        reads x[p[0] : p[0] + (rows - 1) * p[2] + n] if rows and n
        reads w[p[3] : p[3] + n] if rows
        reads w[p[6] : p[6] + 3 * (rows - 1) + 1] if rows
        writes out[p[5] : p[5] + rows * n]
    """
    first = p[0]
    at = p[5]
    last = p[6]
    for row in range(p[1], 0, -1):
        e = w[last] + 1
        i = first
        end = first + p[4]
        j = p[3]
        while i < end:
            m = x[i]
            if m:
                s = e - (m >> 23) - w[j]
                m = (m & 0x7FFFFF) + 0x800000
                m = (m + (1 << s >> 1)) >> s if s < 26 and s > 0 - 1 else 0
                if m >> 23:
                    m = (1 << 23) - 1
            out[at] = m
            at += 1
            i += 1
            j += 1
        first += p[2]
        last += 3


def sums(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first of what dots makes of p[1] rows of weights and p[2] of values, first sum: a limb of
    15 bits and the rest, whether they begin here

    Access:
        n = p[2]
        reads x[p[0] : p[0] + 3 * p[1] * (n + 1)]
        updates out[p[3] : p[3] + 2 * p[1] * n]
    """
    i = p[0]
    at = p[3]
    for m in range(p[1], 0, -1):
        y0, y1, y2 = added(x, i)
        i += 3
        for n in range(p[2], 0, -1):
            low, middle, high = product(x, i, y0, y1, y2)
            low = (high << 27) + (middle << 3) + (low >> 21)
            if p[4]:
                out[at] = low & 32767
                out[at + 1] = low >> 15
            else:
                out[at] = out[at] + (low & 32767)
                out[at + 1] = out[at + 1] + (low >> 15)
            at += 2
            i += 3


def finish(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """p: first sum, rows of them, K, first of what powers says, first item of out, items from row
    to row

    Access:
        rows = p[1]
        reads x[p[0] : p[0] + 2 * rows * p[2]]
        reads w[p[3] : p[3] + 3 * rows]
        writes out[p[4] : p[4] + (rows - 1) * p[5] + p[2]] if rows
    """
    mask = all_but_sign()
    j = p[3]
    i = p[0]
    first = p[4]
    for row in range(p[1], 0, -1):
        c = q = 0
        high = w[j + 1]
        while high >> c > 32767:
            c += 1
        if high:
            total = (high << (15 - c)) | (w[j + 2] >> c)
            rest = 1 << 29
            n = 30
            while n:
                rest, q = rest << 1, q << 1
                if rest >= total:
                    rest -= total
                    q += 1
                n -= 1
        base = w[j] - 120 - c
        a, b = q >> 15, q & 32767
        at = first
        end = first + p[2]
        while at < end:
            v, m = x[i + 1], x[i]
            v = word(v, mask)
            v += m >> 15
            m = m & 32767
            sign = 0
            if v < 0:
                sign = 1
                v = 0 - v
                if m:
                    v -= 1
                    m = 32768 - m
            e = base
            while v > 32767:
                m = (m >> 1) | ((v & 1) << 14)
                v = v >> 1
                e += 1
            v = (v << 15) | m
            r = 0
            if v and q:
                v, e = normalize(v, e, 29)
                m, v = v & 32767, v >> 15
                v = v * a + ((v * b + m * a + (m * b >> 15)) >> 15)
                if v >> 29 == 0:
                    v = v << 1
                    e -= 1
                if e > 254:
                    r = mask - 0x800000
                elif e > 0:
                    r = ((v + 32) >> 6) + ((e - 1) << 23)
                if sign:
                    r -= mask + 1
            out[at] = r
            at += 1
            i += 2
        first += p[5]
        j += 3
