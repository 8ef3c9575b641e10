"""Index of the largest or smallest element along the middle axis of x. Plain form.

x has shape (outer, length, inner). A line is the elements along the middle axis. out gets an index
for each line. w is not used.
"""

# Parameters of arg_reduce
_START = 0  # first output [elements] 0..
_END = 1  # end, exclusive [elements] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # size of the inner axis [lines] 1..
_IS_MINIMUM = const(4)  # find the smallest, not the largest [flag] 0, 1
_IS_LAST = const(5)  # of equal elements take the last, not the first [flag] 0, 1


def arg_reduce(x, w, out, p):
    """Find the index of an element of any dtype.

    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x[low : high] if start < end
        writes out[start : end]
    """
    length, inner, is_minimum, is_last = p[_LENGTH], p[_INNER], p[_IS_MINIMUM], p[_IS_LAST]
    o = p[_START]
    while o < p[_END]:
        i = o // inner * length * inner + o % inner
        best = x[i]
        at = 0
        k = 1
        while k < length and best == best:  # NaN is the maximum
            i += inner
            v = x[i]
            if v != v or (v < best if is_minimum else v > best) or (is_last and v == best):
                best = v
                at = k
            k += 1
        out[o] = at
        o += 1
