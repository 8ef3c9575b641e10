"""Selection by insertion into the sorted output, along the middle axis of (outer, n, inner).

x: items; w: indices, written like out: the values (outer, k, inner). Plain form.
p: lo, hi: range of lines; n, inner, k, smallest (0 or 1)
"""


def top_k(x, w, out, p):
    """
    Access:
        n, inner, k = p[2], max(p[3], 1), p[4]
        requires k > 0
        low, high = p[0] // inner * inner, ((p[1] - 1) // inner + 1) * inner
        reads x[low * n : high * n] if p[0] < p[1]
        writes w[low * k : high * k] if p[0] < p[1]
        writes out[low * k : high * k] if p[0] < p[1]
    """
    n, inner, k, smallest = p[2], p[3], p[4], p[5]
    line = p[0]
    while line < p[1]:
        i = line // inner * n * inner + line % inner
        first = line // inner * k * inner + line % inner
        held = 0
        item = 0
        while item < n:
            v = x[i]
            last = first + (held - 1) * inner
            if held < k or (v < out[last] if smallest else v > out[last]):
                if held < k:
                    held += 1
                    last += inner
                # worse ones move one place on; equal ones stay ahead
                while last > first and (
                    v < out[last - inner] if smallest else v > out[last - inner]
                ):
                    out[last] = out[last - inner]
                    w[last] = w[last - inner]
                    last -= inner
                out[last] = v
                w[last] = item
            i += inner
            item += 1
        line += 1
