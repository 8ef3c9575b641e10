"""Index of the largest or smallest float32, on the bits, or byte. In the common subset.

x has shape (outer, length, inner); a line is the elements along its middle axis. out holds an
index for each line: int64 as two words, or int32. w is not used.
"""

# Parameters of arg_reduce, arg_reduce8
_START = const(0)  # the first output [elements] 0..
_END = const(1)  # behind the last one [elements] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # lines that lie side by side [lines] 1..
# Parameters of arg_reduce
_IS_MINIMUM = const(4)  # the smallest element is wanted, not the largest [flag] 0, 1
# Parameters of arg_reduce8
_KEY_MASK = const(4)  # x ^ it is largest for the wanted byte [mask] 0..255
# Parameters of arg_reduce, arg_reduce8
_IS_LAST = const(5)  # of equal elements the last one is wanted, not the first [flag] 0, 1
_WORDS_PER_INDEX = const(6)  # of out [words] 1, 2
# Parameters of arg_reduce
_MAGNITUDE_MASK = const(7)  # all bits but the sign [mask] 2**31 - 1
_INFINITY = const(8)  # [float bits] 2139095040


def arg_reduce(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the element of float32.

    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x[low : high] if start < end
        writes out[start * words_per_index : end * words_per_index]
    """
    o = p[_START]
    at = o * p[_WORDS_PER_INDEX]
    while o < p[_END]:
        i = o // p[_INNER] * p[_LENGTH] * p[_INNER] + o % p[_INNER]
        found = best = k = 0
        while k < p[_LENGTH]:
            v = x[i]
            key = v & p[_MAGNITUDE_MASK]
            if key > p[_INFINITY]:  # nothing is above a NaN
                found, k = k, p[_LENGTH]
            else:
                if (v >> 31) & 1 != p[_IS_MINIMUM]:
                    key = 0 - key
                if k == 0 or key > best or key == best and p[_IS_LAST]:
                    best, found = key, k
                i += p[_INNER]
                k += 1
        out[at] = found
        if p[_WORDS_PER_INDEX] == 2:
            out[at + 1] = 0
        at += p[_WORDS_PER_INDEX]
        o += 1


def arg_reduce8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Find the byte.

    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x[low : high] if start < end
        writes out[start * words_per_index : end * words_per_index]
    """
    mask, is_last, o = p[_KEY_MASK], p[_IS_LAST], p[_START]
    at = o * p[_WORDS_PER_INDEX]
    while o < p[_END]:
        i = o // p[_INNER] * p[_LENGTH] * p[_INNER] + o % p[_INNER]
        found = k = 0
        best = 0 - 1
        while k < p[_LENGTH]:
            key = x[i] ^ mask
            if key > best or key == best and is_last:
                best, found = key, k
            i += p[_INNER]
            k += 1
        out[at] = found
        if p[_WORDS_PER_INDEX] == 2:
            out[at + 1] = 0
        at += p[_WORDS_PER_INDEX]
        o += 1
