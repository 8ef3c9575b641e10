"""Fourier transform of one line, in the two halves of a work array. Plain form.

x holds floats (outer, x_length, inner, parts), of which a call takes one line. out holds floats
(outer, out_length, inner, 2), or 1 instead of 2 for an inverse to real numbers. See ops/dft.

Stockham's algorithm: `count` transforms are interleaved, element k of transform t at k * count +
t. The first pass makes those of the odd factor's length, each further pass joins two into one.
"""

# Parameters of load, transform, store
_LINE = 0  # of outer * inner lines [lines] 0..
_RESULT_START = 1  # start of the result in the work array, set by transform [elements] 0..
_TRANSFORM = 2  # 0 forward, 1 inverse, 2 inverse to real numbers [code] 0..2
_X_LENGTH = 3  # of a line of x [numbers] 0..
_INNER = 4  # size of the inner axis [lines] 1..
_PARTS = 5  # parts of a number of x: 1 real, 2 complex [elements] 1, 2
_LENGTH = 6  # of the transform [numbers] 1..
_OUT_LENGTH = 7  # of a line of out [numbers] 1..


def load(x, w, out, p):
    """Write x's line as complex numbers into the first half of out.

    Zeros, or the mirrored conjugate, follow.

    Access:
        taken = min(x_length, length)
        first = (line // inner * x_length * inner + line % inner) * parts
        reads x[first : first + ((taken - 1) * inner + 1) * parts] if taken
        writes out[0 : max(2 * length, 2)]
    """
    kind, n, inner, parts, length = p[_TRANSFORM], p[_X_LENGTH], p[_INNER], p[_PARTS], p[_LENGTH]
    line = p[_LINE]
    i = (line // inner * n * inner + line % inner) * parts
    j = 0
    while j < length:
        real = imag = 0.0
        if j < n:
            real = x[i]
            if parts == 2:
                imag = x[i + 1]
        out[2 * j] = real
        out[2 * j + 1] = imag
        i += inner * parts
        j += 1
    if kind == 2:
        out[1] = 0.0
        j = length // 2 + 1
        if length % 2 == 0:
            out[length + 1] = 0.0
        while j < length:
            out[2 * j] = out[2 * (length - j)]
            out[2 * j + 1] = -out[2 * (length - j) + 1]
            j += 1


def transform(x, w, out, p):
    """Transform out, the work array, by the table w, and set result_start.

    Access:
        reads w[0 : 2 * length] if length > 1
        updates out[0 : 4 * length] if length > 1
        writes p[1:2]
    """
    sign = -1.0 if p[_TRANSFORM] == 0 else 1.0
    source, target = 0, 2 * p[_LENGTH]
    count = 1
    while p[_LENGTH] // count % 2 == 0:
        count *= 2
    size = p[_LENGTH] // count
    if size > 1:
        _direct(w, out, sign, source, target, size, count)
        source, target = target, source
    while count > 1:
        _join(w, out, sign, source, target, size, count)
        source, target = target, source
        size *= 2
        count //= 2
    p[_RESULT_START] = source


def _join(table, w, sign, source, target, size, count):
    """Join transforms t and t + count / 2, whose elements are interleaved."""
    half = count // 2
    number = 0
    while number < size:
        cosine = table[2 * number * half]
        sine = sign * table[2 * number * half + 1]
        i = source + 2 * number * count
        k = target + 2 * number * half
        far = k + 2 * size * half
        end = k + 2 * half
        while k < end:
            j = i + 2 * half
            real = w[j] * cosine - w[j + 1] * sine
            imag = w[j] * sine + w[j + 1] * cosine
            w[k] = w[i] + real
            w[k + 1] = w[i + 1] + imag
            w[far] = w[i] - real
            w[far + 1] = w[i + 1] - imag
            i += 2
            k += 2
            far += 2
        number += 1


def _direct(table, w, sign, source, target, length, count):
    """Compute the sums by definition for an odd length, compensated for single floats."""
    total = length * count
    t = 0
    while t < total:
        k = t // count
        at = 0
        i = source + 2 * (t % count)
        real = imag = real_lost = imag_lost = 0.0
        j = 0
        while j < length:
            cosine = table[2 * at * count]
            sine = sign * table[2 * at * count + 1]
            v = w[i] * cosine - w[i + 1] * sine - real_lost
            new = real + v
            real_lost = (new - real) - v
            real = new
            v = w[i] * sine + w[i + 1] * cosine - imag_lost
            new = imag + v
            imag_lost = (new - imag) - v
            imag = new
            i += 2 * count
            at += k
            if at >= length:
                at -= length
            j += 1
        w[target + 2 * t] = real
        w[target + 2 * t + 1] = imag
        t += 1


def store(x, w, out, p):
    """Write the result to a line of out.

    Access:
        out_parts = 1 if transform == 2 else 2
        first = (line // inner * out_length * inner + line % inner) * out_parts
        reads x[result_start : result_start + 2 * out_length]
        writes out[first : first + ((out_length - 1) * inner + 1) * out_parts]
    """
    kind, inner, length, out_length = p[_TRANSFORM], p[_INNER], p[_LENGTH], p[_OUT_LENGTH]
    parts = 1 if kind == 2 else 2
    k = (p[_LINE] // inner * out_length * inner + p[_LINE] % inner) * parts
    j = p[_RESULT_START]
    end = j + 2 * out_length
    while j < end:
        out[k] = x[j] / length if kind else x[j]
        if parts == 2:
            out[k + 1] = x[j + 1] / length if kind else x[j + 1]
        k += inner * parts
        j += 2
