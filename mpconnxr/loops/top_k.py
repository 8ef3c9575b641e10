"""Largest or smallest elements of lines, sorted. Plain form.

x has shape (outer, length, inner), w and out (outer, out_length, inner). A line is the elements
along the middle axis. w gets indices, out elements. Each element of x is inserted into the sorted
line of out.
"""

# Parameters of top_k
_START = 0  # first line [lines] 0..
_END = 1  # end, exclusive [lines] 0..
_LENGTH = const(2)  # of a line of x [elements] 1..
_INNER = const(3)  # size of the inner axis [lines] 1..
_OUT_LENGTH = const(4)  # of a line of w and out [elements] 1..
_IS_MINIMUM = const(5)  # find the smallest, not the largest [flag] 0, 1


def top_k(x, w, out, p):
    """Find the largest or smallest elements of lines.

    Access:
        low, high = start // inner * inner, ((end - 1) // inner + 1) * inner
        reads x[low * length : high * length] if start < end
        writes w[low * out_length : high * out_length] if start < end
        writes out[low * out_length : high * out_length] if start < end
    """
    length, inner, out_length, is_minimum = p[_LENGTH], p[_INNER], p[_OUT_LENGTH], p[_IS_MINIMUM]
    line = p[_START]
    while line < p[_END]:
        i = line // inner * length * inner + line % inner
        first = line // inner * out_length * inner + line % inner
        held = 0
        element = 0
        while element < length:
            v = x[i]
            last = first + (held - 1) * inner
            if held < out_length or (v < out[last] if is_minimum else v > out[last]):
                if held < out_length:
                    held += 1
                    last += inner
                # shift worse elements; equal ones stay ahead
                while last > first and (
                    v < out[last - inner] if is_minimum else v > out[last - inner]
                ):
                    out[last] = out[last - inner]
                    w[last] = w[last - inner]
                    last -= inner
                out[last] = v
                w[last] = element
            i += inner
            element += 1
        line += 1
