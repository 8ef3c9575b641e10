"""Index of the largest or smallest float32, on its bits, or byte, along the middle axis of x.

x has shape (outer, length, inner). A line is the elements along the middle axis. out gets an index
for each line: int64 as two words, or int32. w is not used.
"""

# Parameters of arg_reduce, arg_reduce8
_START = const(0)  # first output [elements] 0..
_END = const(1)  # end, exclusive [elements] 0..
_LENGTH = const(2)  # of a line [elements] 1..
_INNER = const(3)  # size of the inner axis [lines] 1..
# Parameters of arg_reduce
_IS_MINIMUM = const(4)  # find the smallest, not the largest [flag] 0, 1
# Parameters of arg_reduce8
_KEY_MASK = const(4)  # x ^ key_mask is largest for the byte to find [mask] 0..255
# Parameters of arg_reduce, arg_reduce8
_IS_LAST = const(5)  # of equal elements take the last, not the first [flag] 0, 1
_WORDS_PER_INDEX = const(6)  # of out [words] 1, 2
# Parameters of arg_reduce
_MAGNITUDE_MASK = const(7)  # all bits except the sign [mask] 2**31 - 1
_INFINITY = const(8)  # [float bits] 2139095040


def arg_reduce(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the index of a float32.

    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x[low : high] if start < end
        writes out[start * words_per_index : end * words_per_index]
    """
    o = p[_START]
    at = o * p[_WORDS_PER_INDEX]
    while o < p[_END]:
        i = o // p[_INNER] * p[_LENGTH] * p[_INNER] + o % p[_INNER]
        index = best = k = 0
        while k < p[_LENGTH]:
            v = x[i]
            key = v & p[_MAGNITUDE_MASK]
            if key > p[_INFINITY]:  # NaN is the maximum
                index, k = k, p[_LENGTH]
            else:
                if (v >> 31) & 1 != p[_IS_MINIMUM]:
                    key = 0 - key
                if k == 0 or key > best or key == best and p[_IS_LAST]:
                    best, index = key, k
                i += p[_INNER]
                k += 1
        out[at] = index
        if p[_WORDS_PER_INDEX] == 2:
            out[at + 1] = 0
        at += p[_WORDS_PER_INDEX]
        o += 1


def arg_reduce8(x: ptr8, w: ptr32, out: ptr32, p: ptr32):
    """Find the index of a byte.

    Access:
        low, high = start // inner * length * inner, ((end - 1) // inner + 1) * length * inner
        reads x[low : high] if start < end
        writes out[start * words_per_index : end * words_per_index]
    """
    mask, is_last, o = p[_KEY_MASK], p[_IS_LAST], p[_START]
    at = o * p[_WORDS_PER_INDEX]
    while o < p[_END]:
        i = o // p[_INNER] * p[_LENGTH] * p[_INNER] + o % p[_INNER]
        index = k = 0
        best = 0 - 1
        while k < p[_LENGTH]:
            key = x[i] ^ mask
            if key > best or key == best and is_last:
                best, index = key, k
            i += p[_INNER]
            k += 1
        out[at] = index
        if p[_WORDS_PER_INDEX] == 2:
            out[at + 1] = 0
        at += p[_WORDS_PER_INDEX]
        o += 1
