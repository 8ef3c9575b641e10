"""Determinant of one matrix. Plain form.

x: matrices (n, n); w: room for one; out: one value a matrix; p: which one, n
"""


def determinant(x, w, out, p):
    n = p[1]
    first = p[0] * n * n
    for i in range(n * n):
        w[i] = x[first + i]
    result = 1.0
    for k in range(n):
        pivot = _largest(w, n, k)
        if pivot != k:
            _swap(w, n, k, pivot)
            result = -result
        diagonal = w[k * n + k]
        result *= diagonal
        if diagonal == 0.0:
            break
        _eliminate(w, n, k, diagonal)
    out[p[0]] = result


def _largest(w, n, k):
    best = row = k
    while row < n:
        if abs(w[row * n + k]) > abs(w[best * n + k]):
            best = row
        row += 1
    return best


def _swap(w, n, k, other):
    for i in range(k, n):
        w[k * n + i], w[other * n + i] = w[other * n + i], w[k * n + i]


def _eliminate(w, n, k, diagonal):
    for row in range(k + 1, n):
        factor = w[row * n + k] / diagonal
        for i in range(k + 1, n):
            w[row * n + i] -= factor * w[k * n + i]
