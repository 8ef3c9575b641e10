"""One Fourier transform, in two halves of a work array. Plain form.

p    line, first item of the result, op, n, inner, parts, length, n_out (see the kernel)

Stockham's scheme: `count` transforms lie interleaved, item k of transform t at k * count + t. The
first pass makes those of the odd factor's length, each further one joins two into one.
"""


def load(x, w, out, p):
    """x's line into the first half of out, as complex numbers: zeros behind it, or the mirrored
    conjugate.

    Access:
        n, inner, parts = p[3:6]
        first = (p[0] // inner * n * inner + p[0] % inner) * parts
        reads x[first : first + ((min(n, p[6]) - 1) * inner + 1) * parts] if min(n, p[6])
        writes out[0 : max(2 * p[6], 2)]
    """
    op, n, inner, parts, length = p[2], p[3], p[4], p[5], p[6]
    line = p[0]
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
    if op == 2:
        out[1] = 0.0
        j = length // 2 + 1
        if length % 2 == 0:
            out[length + 1] = 0.0
        while j < length:
            out[2 * j] = out[2 * (length - j)]
            out[2 * j + 1] = -out[2 * (length - j) + 1]
            j += 1


def transform(x, w, out, p):
    """w: the table; out: the work array. p[1] becomes where in out the result begins.

    Access:
        requires p[6] > 0
        reads w[0 : 2 * p[6]] if p[6] > 1
        updates out[0 : 4 * p[6]] if p[6] > 1
        writes p[1:2]
    """
    sign = -1.0 if p[2] == 0 else 1.0
    source, target = 0, 2 * p[6]
    count = 1
    while p[6] // count % 2 == 0:
        count *= 2
    done = p[6] // count
    if done > 1:
        _direct(w, out, sign, source, target, done, count)
        source, target = target, source
    while count > 1:
        _join(w, out, sign, source, target, done, count)
        source, target = target, source
        done *= 2
        count //= 2
    p[1] = source


def _join(table, w, sign, source, target, done, count):
    """Transform t takes in t + count / 2, its items in between."""
    half = count // 2
    k = 0
    while k < done:
        c = table[2 * k * half]
        s = sign * table[2 * k * half + 1]
        a = source + 2 * k * count
        o = target + 2 * k * half
        far = o + 2 * done * half
        end = o + 2 * half
        while o < end:
            b = a + 2 * half
            real = w[b] * c - w[b + 1] * s
            imag = w[b] * s + w[b + 1] * c
            w[o] = w[a] + real
            w[o + 1] = w[a + 1] + imag
            w[far] = w[a] - real
            w[far + 1] = w[a + 1] - imag
            a += 2
            o += 2
            far += 2
        k += 1


def _direct(table, w, sign, source, target, length, count):
    """The sums as they are written, for an odd length; compensated, for single floats."""
    total = length * count
    t = 0
    while t < total:
        k = t // count
        at = 0
        i = source + 2 * (t % count)
        real = imag = real_lost = imag_lost = 0.0
        j = 0
        while j < length:
            c = table[2 * at * count]
            s = sign * table[2 * at * count + 1]
            v = w[i] * c - w[i + 1] * s - real_lost
            new = real + v
            real_lost = (new - real) - v
            real = new
            v = w[i] * s + w[i + 1] * c - imag_lost
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
    """
    Access:
        inner, n, parts = p[4], p[7], 1 if p[2] == 2 else 2
        first = (p[0] // inner * n * inner + p[0] % inner) * parts
        reads x[p[1] : p[1] + 2 * n]
        writes out[first : first + ((n - 1) * inner + 1) * parts] if n
    """
    op, inner, length, n_out = p[2], p[4], p[6], p[7]
    parts = 1 if op == 2 else 2
    o = (p[0] // inner * n_out * inner + p[0] % inner) * parts
    j = p[1]
    end = j + 2 * n_out
    while j < end:
        out[o] = x[j] / length if op else x[j]
        if parts == 2:
            out[o + 1] = x[j + 1] / length if op else x[j + 1]
        o += inner * parts
        j += 2
