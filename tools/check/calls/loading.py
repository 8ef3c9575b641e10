"""Random calls of loops/loading: see on_board_loops."""

from array import array


def widen(d):
    n = d.below(40)
    x = array("H", [v & 0xFFFF for v in d.words(n + 1)])
    return x, x, d.blank("H", 2 * n), [n]


def numbers(d):
    n = d.below(20)
    x = bytearray()
    for _ in range(n):
        code = (d.word() & 0xFFFFFFFF) >> d.below(32)
        while code > 127:
            x.append(code & 127 | 128)
            code >>= 7
        x.append(code)
    first = d.below(3)
    x = bytearray(first) + x + d.octets(8)
    end = len(x) - d.below(9)
    if d.below(4) == 0:  # bytes that are any
        x[first:] = d.octets(len(x) - first)
    return x, x, d.blank("i", n + 1), [first, end, n]
