"""The k best elements of lines of float32, sorted, on the bits.

x, w and out are those of loops/top_k, as words: an index of w is int64 as two words, or int32.
"""

from ._hints import inline
from ._words import all_but_sign

# Parameters of best32
_START = const(0)  # first line [lines] 0..
_END = const(1)  # end, exclusive [lines] 0..
_LENGTH = const(2)  # of a line of x [elements] 1..
_INNER = const(3)  # size of the inner axis [lines] 1..
_OUT_LENGTH = const(4)  # of a line of w and out [elements] 1..
_IS_MINIMUM = const(5)  # find the smallest, not the largest [flag] 0, 1
_WORDS_PER_INDEX = const(6)  # of w [words] 1, 2


@inline
def rank(v, mask, is_minimum):
    """Return a key that is larger for a better v, and equal for 0 and -0."""
    key = v & mask
    if (v >> 31) & 1 != is_minimum:
        key = 0 - key
    return key


def best32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Find the best elements of each line.

    Access:
        low, high = start // inner * inner, ((end - 1) // inner + 1) * inner
        reads x[low * length : high * length] if start < end
        words = out_length * words_per_index
        writes w[low * words : high * words] if start < end
        writes out[low * out_length : high * out_length] if start < end
    """
    mask = all_but_sign()
    line = p[_START]
    while line < p[_END]:
        i = line // p[_INNER] * p[_LENGTH] * p[_INNER] + line % p[_INNER]
        first = line // p[_INNER] * p[_OUT_LENGTH] * p[_INNER] + line % p[_INNER]
        end = first  # behind the worst element that is kept
        worst = k = 0
        full = first + p[_OUT_LENGTH] * p[_INNER]
        while k < p[_LENGTH]:
            v = x[i]
            key = rank(v, mask, p[_IS_MINIMUM])
            if end < full or key > worst:
                if end < full:
                    end += p[_INNER]
                o = end - p[_INNER]
                other_key = key - 1
                while o > first and other_key < key:
                    other = out[o - p[_INNER]]
                    other_key = rank(other, mask, p[_IS_MINIMUM])
                    if other_key < key:
                        out[o] = other
                        w[o * p[_WORDS_PER_INDEX]] = w[(o - p[_INNER]) * p[_WORDS_PER_INDEX]]
                        o -= p[_INNER]
                out[o] = v
                o = o * p[_WORDS_PER_INDEX]
                w[o] = k
                if p[_WORDS_PER_INDEX] == 2:
                    while o < end * 2:  # shift the worse ones
                        w[o + 1] = 0
                        o += 2 * p[_INNER]
                other = out[end - p[_INNER]]
                worst = rank(other, mask, p[_IS_MINIMUM])
            i += p[_INNER]
            k += 1
        line += 1
