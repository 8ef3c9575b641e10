"""What leaves of decision trees add up to, in floats. Plain form.

    x    int32: the leaf of each tree
    w    (where a leaf's entries begin, and the last one's end; their targets, their weights; what
         is added to each target)
    out  floats
    p    first item of out, targets, divisor, trees

rank_doubles is that of loops/trees for an x of float64.
"""

_NAN = float("nan")


def total(x, w, out, p):
    """
    Access:
        given the items of x are leaves, and their entries are in w and name targets
        reads x[0 : p[3]]
        reads w[0 : 4]
        reads w[0][0 : len(w[0])] if p[3]
        reads w[1][0 : len(w[1])] if p[3]
        reads w[2][0 : len(w[2])] if p[3]
        reads w[3][0 : p[1]]
        writes out[p[0] : p[0] + p[1]]
    """
    ends, targets, weights = w[0], w[1], w[2]
    _fill(out, p, 0.0)
    for tree in range(p[3]):
        i, end = ends[x[tree]], ends[x[tree] + 1]
        while i < end:
            k = p[0] + targets[i]
            out[k] = out[k] + weights[i]
            i += 1
    i = 0
    while i < p[1]:
        out[p[0] + i] = out[p[0] + i] / p[2] + w[3][i]
        i += 1


def least(x, w, out, p):
    """Access: as total"""
    ends, targets, weights = w[0], w[1], w[2]
    _fill(out, p, _NAN)
    for tree in range(p[3]):
        i, end = ends[x[tree]], ends[x[tree] + 1]
        while i < end:
            k, v = p[0] + targets[i], weights[i]
            if not out[k] <= v:
                out[k] = v
            i += 1
    _finish(w[3], out, p)


def most(x, w, out, p):
    """Access: as total"""
    ends, targets, weights = w[0], w[1], w[2]
    _fill(out, p, _NAN)
    for tree in range(p[3]):
        i, end = ends[x[tree]], ends[x[tree] + 1]
        while i < end:
            k, v = p[0] + targets[i], weights[i]
            if not out[k] >= v:
                out[k] = v
            i += 1
    _finish(w[3], out, p)


def _fill(out, p, start):
    i = 0
    while i < p[1]:
        out[p[0] + i] = start
        i += 1


def _finish(base, out, p):
    """Where no tree has an entry for a target, the least and the greatest are 0."""
    i = 0
    while i < p[1]:
        v = out[p[0] + i]
        if v != v:
            v = 0.0
        out[p[0] + i] = v / p[2] + base[i]
        i += 1


def rank_doubles(x, w, out, p):
    """w: (table, cuts of float64)

    Access:
        given the slots in w name features of x, and cuts in w
        reads x[p[0] : len(x)] if p[1]
        reads w[0 : 2]
        reads w[0][p[2] : p[2] + 4 * p[1]]
        reads w[1][0 : len(w[1])] if p[1]
        writes out[0 : p[1]]
    """
    table, cuts = w
    at = p[2]
    for slot in range(p[1]):
        low, n = table[at + 1], table[at + 3]
        v = x[p[0] + (table[at] >> 1)]
        if v != v:
            out[slot] = 0 if table[at] & 1 else n + 1
        else:
            out[slot] = _rank(v, cuts, low, low + n)
        at += 4


def _rank(v, cuts, first, high):
    low = first
    while low < high:
        middle = (low + high) >> 1
        if cuts[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low - first + 1
