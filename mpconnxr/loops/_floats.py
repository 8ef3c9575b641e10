"""Helpers of loops on the bits of float32. m is a mantissa, e a biased exponent."""

from ._hints import inline, undefined


@inline
def unpack(v):
    """Return mantissa and exponent fields of the float v."""
    m, e = v & 0x7FFFFF, (v >> 23) & 255
    return m, e


@inline
def first_bit(m, e):
    """Return the mantissa with its implicit bit, and the exponent.

    A denormal has no such bit, and exponent 1.
    """
    if e:
        m = m | 0x800000
    else:
        e = 1
    return m, e


@inline
def normalize(m, e, bit):
    """Shift m, which is not 0, left until bit `bit` is its highest; return it and its exponent."""
    while m < 1 << bit:
        m = m << 1
        e -= 1
    return m, e


@inline
def significand(m, e):
    """Return a mantissa of 24 bits and its exponent, also for a denormal other than 0."""
    if e:
        m = m | 0x800000
    else:
        e = 1
        m, e = normalize(m, e, 23)
    return m, e


@inline
def halve(m, e, bit):
    """Halve m if it reaches bit `bit`; return it and its exponent."""
    if m >> bit:
        m = m >> 1
        e += 1
    return m, e


@inline
def product(a, b, e):
    """Return m = a * b rounded to even, all of 24 bits, and its exponent. Temporary: low."""
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

    Both mantissas have guard, round and sticky bits. Temporaries: m, rest.
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
    """Return the magnitude bits of the largest float of most and x[i:end], and i at the end.

    Temporary: v.
    """
    v = undefined
    while i < end:
        v = x[i] & mask
        most = max(v, most)
        i += 1
    return most, i, v


@inline
def put_limited(t, low, high, sign, out, at, keeps_larger, step):
    """Write the signed result t, clipped to low .. high, to out[at]; return the next index.

    With keeps_larger, write the larger of t and out[at]. Temporaries: t, v.
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
    """Return the bias of a channel as m * 2**s in its sum's unit, and the sum's exponent e.

    i and j are indices into x and w, which advance to the next channel. `exponent` is added to
    that in w. bias_step is 0 if there are no biases. Temporary: v.
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
def rank_element(v, weight, most, specials):
    """Update most, the largest exponent so far, and specials, a mask of special values, with v.

    specials gets 1 for an infinite product with the sign of its weight, 2 for the other sign,
    4 for NaN. Temporaries: a, n.
    """
    n = undefined
    a = (v >> 23) & 255
    if a == 255:
        a = 1
        n = 4 if v & 0x7FFFFF else 1 + (((v ^ weight) >> 31) & 1)
        specials = specials | n
    most = max(a, most)
    return most, specials, a, n


@inline
def weigh_element(v, weight, most):
    """Return m = |v| * weight in units of 2**-29 * 2**(most + 1). Temporary: n.

    weight has 28 fraction bits and is below 4.
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
def weighed_sum(total, most, specials, infinity, top):
    """Return total = the bits of the float32 nearest to a sum of results of weigh_element.

    specials is the mask of rank_element, infinity the bits of inf, top 2**31. Temporaries: most,
    n, sign.
    """
    n = sign = undefined
    if specials:
        total = infinity
        if specials == 2:
            total -= top
        elif specials > 2:
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
