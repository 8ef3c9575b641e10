"""Determinant of one matrix. Plain form.

x: matrices (n, n); w: room for one; out: one value a matrix; p: which one, n
"""


def determinant(x, w, out, p):
    """
    Access:
        size = p[1] * p[1]
        reads x[p[0] * size : (p[0] + 1) * size]
        writes w[0 : size]
        writes out[p[0] : p[0] + 1]
    """
    n = p[1]
    first = p[0] * n * n
    i = 0
    while i < n * n:
        w[i] = x[first + i]
        i += 1
    result = 1.0
    k = 0
    while k < n:
        pivot = _largest(w, n, k)
        if pivot != k:
            _swap(w, n, k, pivot)
            result = -result
        diagonal = w[k * n + k]
        result *= diagonal
        if diagonal == 0.0:
            break
        _eliminate(w, n, k, diagonal)
        k += 1
    out[p[0]] = result


def _largest(w, n, k):
    best = row = k
    while row < n:
        if abs(w[row * n + k]) > abs(w[best * n + k]):
            best = row
        row += 1
    return best


def _swap(w, n, k, other):
    i = k
    while i < n:
        w[k * n + i], w[other * n + i] = w[other * n + i], w[k * n + i]
        i += 1


def _eliminate(w, n, k, diagonal):
    row = k + 1
    while row < n:
        factor = w[row * n + k] / diagonal
        i = k + 1
        while i < n:
            w[row * n + i] -= factor * w[k * n + i]
            i += 1
        row += 1
