"""One-hot encoding of indices (outer, inner) along the middle axis of out. Plain form.

out has shape (outer, classes, inner). x holds indices, w the values for off and on.
"""

# Parameters of one_hot
_START = 0  # first row of out [rows] 0..
_END = 1  # end, exclusive [rows] 0..
_CLASSES = 2  # number of classes [rows] 1..
_INNER = 3  # elements of a row [elements] 1..


def one_hot(x, w, out, p):
    """Write rows of out.

    Access:
        reads x[start // classes * inner : ((end - 1) // classes + 1) * inner] if start < end
        reads w[0 : 2] if start < end
        writes out[start * inner : end * inner]
    """
    classes, inner = p[_CLASSES], p[_INNER]
    row = p[_START]
    while row < p[_END]:
        i = row // classes * inner
        o = row * inner
        end = o + inner
        while o < end:
            v = x[i]
            if v < 0:
                v += classes
            out[o] = w[1] if v == row % classes else w[0]
            i += 1
            o += 1
        row += 1
