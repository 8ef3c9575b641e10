"""Aggregates of the leaves of decision trees, in floats. Plain form.

x holds the leaf of each tree as int32; out gets a float for each target from out_start on. w is
(first entry of each leaf, and the end of the last; targets of the entries; their weights; the base
of each target).

rank_doubles is rank of loops/trees for an x of float64.
"""

# Parameters of total, least, most
_OUT_START = 0  # [elements] 0..
_TARGETS = 1  # [targets] 1..
_DIVISOR = const(2)  # [value] 1..
_TREES = const(3)  # [trees] 1..

# Parameters of rank_doubles
_X_START = const(0)  # [elements] 0..
_SLOTS = const(1)  # [slots] 0..
_SLOT_START = const(2)  # start of the slots in the table [words] 0..

_NAN = float("nan")


def total(x, w, out, p):
    """Aggregate the leaves of a sample.

    Access:
        given the elements of x are leaves, and their entries are in w and name targets
        reads x[0 : trees]
        reads w[0 : 4]
        reads w[0][0 : len(w[0])] if trees
        reads w[1][0 : len(w[1])] if trees
        reads w[2][0 : len(w[2])] if trees
        reads w[3][0 : targets]
        writes out[out_start : out_start + targets]
    """
    ends, targets, weights = w[0], w[1], w[2]
    _fill(out, p, 0.0)
    for tree in range(p[_TREES]):
        i, end = ends[x[tree]], ends[x[tree] + 1]
        while i < end:
            k = p[_OUT_START] + targets[i]
            out[k] = out[k] + weights[i]
            i += 1
    i = 0
    while i < p[_TARGETS]:
        out[p[_OUT_START] + i] = out[p[_OUT_START] + i] / p[_DIVISOR] + w[3][i]
        i += 1


def least(x, w, out, p):
    """Access: as total"""
    ends, targets, weights = w[0], w[1], w[2]
    _fill(out, p, _NAN)
    for tree in range(p[_TREES]):
        i, end = ends[x[tree]], ends[x[tree] + 1]
        while i < end:
            k, v = p[_OUT_START] + targets[i], weights[i]
            if not out[k] <= v:
                out[k] = v
            i += 1
    _finish(w[3], out, p)


def most(x, w, out, p):
    """Access: as total"""
    ends, targets, weights = w[0], w[1], w[2]
    _fill(out, p, _NAN)
    for tree in range(p[_TREES]):
        i, end = ends[x[tree]], ends[x[tree] + 1]
        while i < end:
            k, v = p[_OUT_START] + targets[i], weights[i]
            if not out[k] >= v:
                out[k] = v
            i += 1
    _finish(w[3], out, p)


def _fill(out, p, start):
    i = 0
    while i < p[_TARGETS]:
        out[p[_OUT_START] + i] = start
        i += 1


def _finish(base, out, p):
    """Add the base to the aggregate, which is 0 for a target without an entry in any tree."""
    i = 0
    while i < p[_TARGETS]:
        v = out[p[_OUT_START] + i]
        if v != v:
            v = 0.0
        out[p[_OUT_START] + i] = v / p[_DIVISOR] + base[i]
        i += 1


def rank_doubles(x, w, out, p):
    """Rank the features of an x of float64. w is (table, cuts of float64).

    Access:
        given the slots in w name features of x, and cuts in w
        reads x[x_start : len(x)] if slots
        reads w[0 : 2]
        reads w[0][slot_start : slot_start + 4 * slots]
        reads w[1][0 : len(w[1])] if slots
        writes out[0 : slots]
    """
    table, cuts = w
    place = p[_SLOT_START]
    for slot in range(p[_SLOTS]):
        first, cuts_of_slot = table[place + 1], table[place + 3]
        v = x[p[_X_START] + (table[place] >> 1)]
        if v != v:
            out[slot] = 0 if table[place] & 1 else cuts_of_slot + 1
        else:
            out[slot] = _rank(v, cuts, first, first + cuts_of_slot)
        place += 4


def _rank(v, cuts, first, high):
    low = first
    while low < high:
        middle = (low + high) >> 1
        if cuts[middle] < v:
            low = middle + 1
        else:
            high = middle
    return low - first + 1
