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
