"""Snippets about the bits of float32: m its mantissa, e its exponent."""


@inline
def unpack(v, m, e):
    m, e = v & 0x7FFFFF, (v >> 23) & 255


@inline
def first_bit(m, e):
    """Gives a mantissa the bit that is not written; a denormal has none, and 1 as exponent."""
    if e:
        m = m | 0x800000
    else:
        e = 1


@inline
def normalize(m, e, bit):
    """Shifts m, which is not 0, until that bit is its highest one."""
    while m < 1 << bit:
        m = m << 1
        e -= 1


@inline
def significand(m, e):
    """A mantissa of 24 bits, also of a denormal, which is not 0."""
    if e:
        m = m | 0x800000
    else:
        e = 1
        normalize(m, e, 23)


@inline
def halve(m, e, bit):
    """Halves m if it reaches to that bit."""
    if m >> bit:
        m = m >> 1
        e += 1


@inline
def product(m, low, a, b, e):
    """m = a * b rounded to even, all of them of 24 bits; low: room for the bits behind it."""
    low = (a & 4095) * (b & 4095)
    m = (a & 4095) * (b >> 12) + (a >> 12) * (b & 4095) + (low >> 12)
    low = ((m & 4095) << 12) | (low & 4095)
    m = (m >> 12) + (a >> 12) * (b >> 12)
    if m < 8388608:
        m, low = (m << 1) | (low >> 23), (low << 1) & 16777215
        e -= 1
    if low + (m & 1) > 8388608:
        m += 1


@inline
def add(a, e, sign, m, shift, sign_of_m, rest):
    """a plus m / 2**shift, rounded to even; both with three more bits, the last one of which
    stands for all that is lost.
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


@inline
def largest_bits(most, v, i, end):
    """The bits of the float that is largest without its sign, of x from i to end."""
    while i < end:
        v = x[i] & mask
        most = max(v, most)
        i += 1


@inline
def put_limited(t, v, low, high, sign):
    """t, a result with its sign, to out: within limits, and if p says so the larger of the two."""
    t = min(max(t, low), high)
    if p[14]:
        v = out[at]
        if (v >> 31) & 1:
            v = 0 - (v & (sign - 1))
        t = max(t, v)
    if t < 0:
        t = 0 - t - sign
    out[at] = t
    at += p[6]


@inline
def bias_of_channel(v, m, e, s):
    """What a channel adds to its sum, m * 2**s in the sum's units, of exponent e."""
    v = 0
    if p[1]:
        v = x[i]
        i += p[1]
    unpack(v, m, s)
    if s:
        m += 1 << 23
    else:
        s = 1
    e = p[6] + w[j]
    j += p[3]
    s += 148 - e


@inline
def rank_item(v, weight, a, n, most, found):
    """most: the larger of it and the exponent of v; found: if v is inf (1: as its weight; 2: with
    the other sign) or NaN (4).
    """
    a = (v >> 23) & 255
    if a == 255:
        a = 1
        n = 4 if v & 0x7FFFFF else 1 + (((v ^ weight) >> 31) & 1)
        found = found | n
    most = max(a, most)


@inline
def weigh_item(m, v, weight, n, most):
    """m = the magnitude of v, in 2**-29 of 2**(most + 1), times one that has 28 bits behind the
    point and is below 4.
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


@inline
def weighed_sum(total, most, found, n, sign):
    """total = the bits of a sum of what weigh_item gives, rounded to nearest; top: 2**31."""
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
