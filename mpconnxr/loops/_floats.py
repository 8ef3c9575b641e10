"""Helpers of loops for the bits of float32: m its mantissa, e its exponent."""

from ._hints import inline, undefined


@inline
def unpack(v):
    """Return mantissa and exponent of the float v."""
    m, e = v & 0x7FFFFF, (v >> 23) & 255
    return m, e


@inline
def first_bit(m, e):
    """Return a mantissa with the bit that is not written, and its exponent.

    A denormal has no such bit, and 1 as its exponent.
    """
    if e:
        m = m | 0x800000
    else:
        e = 1
    return m, e


@inline
def normalize(m, e, bit):
    """Return m, which is not 0, shifted so that `bit` is its highest bit, and its exponent."""
    while m < 1 << bit:
        m = m << 1
        e -= 1
    return m, e


@inline
def significand(m, e):
    """Return a mantissa of 24 bits and its exponent, also of a denormal, which is not 0."""
    if e:
        m = m | 0x800000
    else:
        e = 1
        m, e = normalize(m, e, 23)
    return m, e


@inline
def halve(m, e, bit):
    """Return m, halved if it reaches to that bit, and its exponent."""
    if m >> bit:
        m = m >> 1
        e += 1
    return m, e


@inline
def product(a, b, e):
    """Return m = a * b rounded to even, all of them of 24 bits, and the exponent of m.

    low: room, for the bits behind m.
    """
    low = (a & 4095) * (b & 4095)
    m = (a & 4095) * (b >> 12) + (a >> 12) * (b & 4095) + (low >> 12)
    low = ((m & 4095) << 12) | (low & 4095)
    m = (m >> 12) + (a >> 12) * (b >> 12)
    if m < 8388608:
        m, low = (m << 1) | (low >> 23), (low << 1) & 16777215
        e -= 1
    if low + (m & 1) > 8388608:
        m += 1
    return m, e, low


@inline
def add(a, e, sign, m, shift, sign_of_m):
    """Return a + m / 2**shift rounded to even, its exponent and its sign.

    Both have three more bits, the last one of which stands for all that is lost. m, rest: room.
    """
    rest, m = m & ((1 << shift) - 1), m >> shift
    if rest:
        m = m | 1
    if sign_of_m == sign:
        a += m
    else:
        a -= m
        if a < 0:
            a, sign = 0 - a, sign_of_m
    while a >> 27:
        a = (a >> 1) | (a & 1)
        e += 1
    while a and a < 67108864:
        a = a << 1
        e -= 1
    rest, a = a & 7, a >> 3
    if rest + (a & 1) > 4:
        a += 1
    return a, e, sign, m, rest


@inline
def largest_bits(most, x, i, end, mask):
    """Return the bits of the largest float of most and x[i:end], without its sign.

    i: at the end. v: room.
    """
    v = undefined
    while i < end:
        v = x[i] & mask
        most = max(v, most)
        i += 1
    return most, i, v


@inline
def put_limited(t, low, high, sign, out, at, keeps_larger, step):
    """Put t, a result with its sign, to out[at], within limits. Return the next place.

    keeps_larger: whether the larger one of it and what is there counts. t, v: room.
    """
    v = undefined
    t = min(max(t, low), high)
    if keeps_larger:
        v = out[at]
        if (v >> 31) & 1:
            v = 0 - (v & (sign - 1))
        t = max(t, v)
    if t < 0:
        t = 0 - t - sign
    out[at] = t
    at += step
    return at, t, v


@inline
def bias_of_channel(x, i, w, j, bias_step, exponent, exponent_step):
    """Return m and s: a channel adds m * 2**s to its sum, in the sum's units; e: its exponent.

    i, j: places in x and w, which move on to the next channel; exponent: of what w's are added to;
    bias_step: 0 if there are no biases. v: room.
    """
    v = 0
    if bias_step:
        v = x[i]
        i += bias_step
    m, s = unpack(v)
    if s:
        m += 1 << 23
    else:
        s = 1
    e = exponent + w[j]
    j += exponent_step
    s += 148 - e
    return m, s, e, i, j, v


@inline
def rank_item(v, weight, most, found):
    """Return most, the larger of it and the exponent of v, and found, with what v adds to it:
    1 if v is inf of the sign of its weight, 2 if of the other sign, 4 if it is NaN. a, n: room.
    """
    n = undefined
    a = (v >> 23) & 255
    if a == 255:
        a = 1
        n = 4 if v & 0x7FFFFF else 1 + (((v ^ weight) >> 31) & 1)
        found = found | n
    most = max(a, most)
    return most, found, a, n


@inline
def weigh_item(v, weight, most):
    """Return m = the magnitude of v, in 2**-29 of 2**(most + 1), times weight.

    weight: has 28 bits behind the point and is below 4. n: room.
    """
    n, m = most - ((v >> 23) & 255), v & 0x7FFFFF
    if n < most:
        m = m | 0x800000
    else:
        n -= 1
    m = ((m << 5) + (1 << n >> 1)) >> n if 0 - 1 < n < 30 else 0
    n = m >> 15
    m = m & 32767
    m = (n * (weight >> 15) << 2) + ((n * (weight & 32767) + m * (weight >> 15)) >> 13)
    return m, n


@inline
def weighed_sum(total, most, found, infinity, top):
    """Return total = the bits of a sum of what weigh_item gives, rounded to nearest.

    found: of rank_item; infinity: its bits; top: 2**31. most, n, sign: room.
    """
    n = sign = undefined
    if found:
        total = infinity
        if found == 2:
            total -= top
        elif found > 2:
            total = infinity | 0x400000
    elif total:
        sign = 0
        if total < 0:
            total, sign = 0 - total, 1
        most += 1
        if total >> 30:
            total = total >> 1
            most += 1
        while total < 1 << 24:
            total = total << 5
            most -= 5
        while total < 1 << 29:
            total = total << 1
            most -= 1
        n = 6
        if most < 1:
            n, most = 7 - most, 1
            if n > 30:
                n, total = 30, 0
        total = ((total + (1 << (n - 1))) >> n) + ((most - 1) << 23)
        if most > 254 or total > infinity:
            total = infinity
        if sign:
            total -= top
    return total, most, n, sign
