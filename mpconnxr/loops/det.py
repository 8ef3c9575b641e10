"""Determinant of one matrix. Plain form.

x holds matrices of rows * rows elements, out one element for each; w is working memory of one
matrix.
"""

# Parameters of determinant
_MATRIX = 0  # index of the matrix [matrices] 0..
_ROWS = const(1)  # of a matrix; it has as many columns [rows] 0..


def determinant(x, w, out, p):
    """Compute the determinant of a matrix.

    Access:
        size = rows * rows
        reads x[matrix * size : (matrix + 1) * size]
        writes w[0 : size]
        writes out[matrix : matrix + 1]
    """
    rows = p[_ROWS]
    first = p[_MATRIX] * rows * rows
    i = 0
    while i < rows * rows:
        w[i] = x[first + i]
        i += 1
    result = 1.0
    k = 0
    while k < rows:
        pivot = _largest(w, rows, k)
        if pivot != k:
            _swap(w, rows, k, pivot)
            result = -result
        diagonal = w[k * rows + k]
        result *= diagonal
        if diagonal == 0.0:
            break
        _eliminate(w, rows, k, diagonal)
        k += 1
    out[p[_MATRIX]] = result


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
