"""Indices (outer, inner) spread along the middle axis of out (outer, classes, inner). Plain form.

x holds indices, w the values for off and on.
"""

# Parameters of one_hot
_START = 0  # the first row of out [rows] 0..
_END = 1  # behind the last one [rows] 0..
_CLASSES = 2  # rows that an index spreads along [rows] 1..
_INNER = 3  # elements of a row [elements] 1..


def one_hot(x, w, out, p):
    """
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
