"""Casts between float32, float16 and integers, on the bits of floats.

To a float: round to nearest, ties to even. To an integer: truncate, modulo 2**bits; inf and NaN
give 0. Integers of 16 bits and more are 16-bit words, the lowest first. w is not used.
"""

from ._hints import inline
from .lookup import _END, _START

# Parameters of float_of_bytes, float_of_words, float_of_halves, halves_of_float: as lookup.lookup8
# Parameters of bytes_of_float, words_of_float, bools_of_bytes, words_of_bools: as lookup.lookup8

# Parameters of float_of_bytes, float_of_words, words_of_float
_IS_SIGNED = const(2)  # the integers are signed; not used by words_of_float [flag] 0, 1

# Parameters of bools_of_bytes
_IS_FLOAT = const(2)  # the numbers are floats: ignore their sign [flag] 0, 1
_BYTES_PER_ELEMENT = const(3)  # [bytes] 1..

# Parameters of words_of_bools
_ONE = const(2)  # the only nonzero word of a True [value] 0..65535

# Parameters of float_of_words, words_of_float, words_of_bools
_WORDS_PER_ELEMENT = const(3)  # [words] 1, 2, 4

# Parameters of words_of_bools
_PLACE = const(4)  # index of that word in an element [words] 0..3


@inline
def to_even(m, shift):
    """Return m / 2**shift, rounded half to even. Temporary: rest."""
    rest, m = m & ((1 << shift) - 1), m >> shift
    rest = rest + rest + (m & 1)
    if rest > 1 << shift:
        m += 1
    return m, rest


@inline
def put_float(out, i, m, e, sign, one):
    """Write m * 2**(e - 150), m up to 2**24, to out[i] as float32. Temporaries: m, e."""
    if m:
        if m < 256:
            m = m << 16
            e -= 16
        while m < 1 << 23:
            m = m << 1
            e -= 1
        m += (e - 1) << 23
    if sign:
        m = m - (one << 31)
    out[i] = m
    return m, e


@inline
def word(m, t):
    """Return the 16 bits of the 24-bit m from bit t on, with zeros around it."""
    v = 0
    if t >= 0:
        if t < 24:
            v = (m >> t) & 65535
    elif t > 0 - 16:
        v = ((m & 65535) << (0 - t)) & 65535
    return v


@inline
def whole(v):
    """Return m and t with m * 2**-t = the integer part of the float v; 0 for inf and NaN."""
    t, m = (v >> 23) & 255, 0
    if t >= 127 and t < 255:
        m = (v & 0x7FFFFF) | 0x800000
    t = 150 - t
    if m and t > 0:
        m, t = m >> t, 0
    return m, t


def float_of_bytes(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Convert 8-bit integers to floats.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    one, is_signed = 1, p[_IS_SIGNED]
    for i in range(p[_START], p[_END]):
        m, sign, e = x[i], 0, 150
        if is_signed and (m >> 7) & 1:
            m, sign = (256 - m) & 255, 1
            if m == 0:
                m = 256
        m, e = put_float(out, i, m, e, sign, one)


def float_of_words(x: ptr16, w: ptr32, out: ptr32, p: ptr32):
    """Convert integers of words to floats.

    Access:
        reads x[start * words_per_element : end * words_per_element]
        writes out[start : end]
    """
    one, is_signed, words = 1, p[_IS_SIGNED], p[_WORDS_PER_ELEMENT]
    j = p[_START] * words
    for i in range(p[_START], p[_END]):
        sign = 0
        if is_signed:
            sign = x[j + words - 1] >> 15
        m, e, lost, carry = 0, 150, 0, 1
        for k in range(words):
            v = x[j]
            j += 1
            if sign:
                v = 65535 - v + carry
                carry, v = v >> 16, v & 65535
            if v and k:
                # the 30 highest bits so far
                s = 150 + 16 * k - e
                while v < 1 << 29:
                    v = v << 1
                    s -= 1
                e += s
                if s < 0:
                    m = m << (0 - s)
                else:
                    s = min(s, 30)
                    lost = lost | (m & ((1 << s) - 1))
                    m = m >> s
                m = m | v
            elif v:
                m = v
        if m >> 24:
            s = 0
            while m >> s >> 24:
                s += 1
            k, m = m & ((1 << s) - 1), m >> s
            e += s
            k = k + k + (m & 1 if lost == 0 else 1)
            if k > 1 << s:
                m += 1
        m, e = put_float(out, i, m, e, sign, one)


def float_of_halves(x: ptr16, w: ptr32, out: ptr32, p: ptr32):
    """Convert float16 to floats.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    one = 1
    for i in range(p[_START], p[_END]):
        v = x[i]
        m, e, sign = v & 1023, (v >> 10) & 31, v >> 15
        if e == 31:
            m = (255 << 22) + (m << 12)
            m += m
            if sign:
                m = m - (one << 31)
            out[i] = m
        else:
            if e:
                m = m | 1024
            else:
                e = 1
            e += 125
            m, e = put_float(out, i, m, e, sign, one)


def halves_of_float(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """Convert floats to float16.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    for i in range(p[_START], p[_END]):
        v = x[i]
        m, e, sign = v & 0x7FFFFF, ((v >> 23) & 255) - 112, (v >> 16) & 32768
        if e == 143:
            m = 0x7E00 if m else 0x7C00
        elif e > 30:
            m = 0x7C00
        else:
            shift = 13
            if e < 1:
                m = m | 0x800000
                shift = min(14 - e, 26)
                if e < 0 - 111:
                    m = 0
            else:
                m = m | (e << 23)
            m, rest = to_even(m, shift)
        out[i] = m | sign


def bytes_of_float(x: ptr32, w: ptr32, out: ptr8, p: ptr32):
    """Convert floats to 8-bit integers.

    Access:
        reads x[start : end]
        writes out[start : end]
    """
    for i in range(p[_START], p[_END]):
        v = x[i]
        sign = (v >> 31) & 1
        m, t = whole(v)
        v = word(m, t)
        if sign:
            v = 65536 - v
        out[i] = v & 255


def words_of_float(x: ptr32, w: ptr32, out: ptr16, p: ptr32):
    """Convert floats to integers of words.

    Access:
        reads x[start : end]
        writes out[start * words_per_element : end * words_per_element]
    """
    j, words = p[_START] * p[_WORDS_PER_ELEMENT], p[_WORDS_PER_ELEMENT]
    for i in range(p[_START], p[_END]):
        v = x[i]
        sign, carry = (v >> 31) & 1, 1
        m, t = whole(v)
        for k in range(words):
            v = word(m, t)
            if sign:
                v = 65535 - v + carry
                carry, v = v >> 16, v & 65535
            out[j] = v
            j += 1
            t += 16


def bools_of_bytes(x: ptr8, w: ptr32, out: ptr8, p: ptr32):
    """Write 0 for numbers that are 0, 1 for others.

    Access:
        reads x[start * bytes_per_element : end * bytes_per_element]
        writes out[start : end]
    """
    j, nbytes = p[_START] * p[_BYTES_PER_ELEMENT], p[_BYTES_PER_ELEMENT]
    for i in range(p[_START], p[_END]):
        v = 0
        for k in range(nbytes):
            m = x[j]
            j += 1
            if p[_IS_FLOAT] and k == nbytes - 1:
                m = m & 127
            v = v | m
        out[i] = 1 if v else 0


def words_of_bools(x: ptr8, w: ptr32, out: ptr16, p: ptr32):
    """Write integers or floats of words: 0, or, if the lowest bit is 1, `one` in a single word.

    Access:
        requires place < words_per_element
        reads x[start : end]
        writes out[start * words_per_element : end * words_per_element]
    """
    j, words = p[_START] * p[_WORDS_PER_ELEMENT], p[_WORDS_PER_ELEMENT]
    for i in range(p[_START], p[_END]):
        v = p[_ONE] if x[i] & 1 else 0
        for k in range(words):
            out[j] = v if k == p[_PLACE] else 0
            j += 1
