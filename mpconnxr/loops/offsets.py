"""Tuples of indices to row numbers.

x holds the indices as words: one each (int32) or two (int64, low word first). out gets an int32
for each tuple. The table holds the size of each axis of out, then the stride of each; the size of
the axis of each index of a tuple, then the stride of each; then working memory for the position of
a tuple on each axis. The row number is the sum of the position times the strides of the axes, and
of the indices times theirs.

A negative index counts from the end. An index out of range counts as 0 and sets has_bad_index, on
which judge of loops/gather raises.
"""

from ._words import index_of

# Parameters of offsets
_START = 0  # first tuple [tuples] 0..
_END = 1  # end, exclusive [tuples] 0..
_RANK = const(2)  # of out [axes] 0..
_INDICES_PER_TUPLE = const(3)  # [indices] 1..
_WORDS_PER_INDEX = const(4)  # [words] 1, 2
_INDEX = const(5)  # scratch word for an index, set by the loop [value]
_MINUS_ONE = const(6)  # upper word of a negative index [value] -1
_UNUSED = const(7)  # unused; other parameters in gather [words x 2] 0
_HAS_BAD_INDEX = 9  # an index was out of range, set by the loop [flag] 0, 1
_TABLE = const(10)  # sizes and strides: see above [words x n] 0..


def offsets(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """Compute row numbers of tuples.

    Access:
        words = indices_per_tuple * words_per_index
        reads x[start * words : end * words]
        table_end = 10 + 2 * rank + 2 * indices_per_tuple
        reads p[10 : table_end]
        writes out[start : end]
        writes p[5 : 6]
        writes p[9 : 10]
        writes p[table_end : table_end + rank]
        given min([1] + table[0 : rank] + table[2 * rank : 2 * rank + indices_per_tuple]) > 0
    """
    rank, indices, words = p[_RANK], p[_INDICES_PER_TUPLE], p[_WORDS_PER_INDEX]
    own, bad, sizes = _INDEX, _HAS_BAD_INDEX, _TABLE + 2 * rank
    places = sizes + 2 * indices
    axes_total, v = 0, p[_START]
    for axis in range(rank, 0, -1):
        at, place = places + axis - 1, v % p[_TABLE - 1 + axis]
        v = v // p[_TABLE - 1 + axis]
        p[at] = place
        axes_total += place * p[_TABLE - 1 + rank + axis]
    i, stride, left = p[_START] * indices * words, 0, 1 << 29
    if rank:
        stride = p[_TABLE - 1 + 2 * rank]
        left = p[_TABLE - 1 + rank] - p[places + rank - 1]
    end, size, scale = p[_END], p[sizes], p[sizes + indices]
    for k in range(p[_START], end):
        v, sign, good, high = index_of(x, i, size, _MINUS_ONE, words, own, bad, p)
        total = axes_total + v * scale
        i += words
        for index in range(sizes + 1, sizes + indices):
            v, sign, good, high = index_of(x, i, p[index], _MINUS_ONE, words, own, bad, p)
            total += v * p[index + indices]
            i += words
        out[k] = total
        axes_total += stride
        left -= 1
        if left == 0:
            left, axis = p[_TABLE - 1 + rank], rank - 1
            axes_total -= left * stride
            while axis:
                axis -= 1
                at = places + axis
                place = p[at] + 1
                axes_total += p[_TABLE + rank + axis]
                if place < p[_TABLE + axis]:
                    p[at], axis = place, 0
                else:
                    p[at] = 0
                    axes_total -= place * p[_TABLE + rank + axis]
