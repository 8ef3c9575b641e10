"""tfidf: occurrences of n-grams in each row.

    count[r, k] = positions in row r at which elements s + 1 apart, s = 0 .. skips, are n-gram k
    out[r, index[k]] = weight[k] * count[r, k], or weight[k] where the count is not 0

Serves TfIdfVectorizer (all opsets). Unigrams are counted once, whatever the skips.

    x        integers or strings, rows of equal length; strings may have an open shape
    words    x's dtype (int64 for integers), ascending: the elements of the n-grams
    grams    int32: n-grams of each length as indices of words, ascending
    index    int32: columns of the n-grams in the output
    weights  float32: their weights; of shape (0): all are 1
    out      float32 (rows, width)
Raises ModelError. A step allocates boxed floats and big integers.
"""

from ..tensor import range_of

# params
_LINES = const(0)
_WIDTH = const(1)
_SKIPS = const(2)  # largest number of skips
_COUNTS = const(3)  # flag
_NUMBERS = const(4)  # [*] number of n-grams of length 1, 2, ...

OBJECTS = True
PROVED = (3,)


def prepare(node):
    node.require(len(node.params) >= _NUMBERS, "params")
    node.expect(5, 1, len(node.params))
    x, words, grams, index, weights = node.inputs
    out = node.outputs[0]
    strings = x.dtype == "string"
    node.require(strings or range_of(x.dtype), "dtype " + x.dtype)
    node.expect_dtype("string" if strings else "int64", words)
    node.expect_dtype("int32", grams, index)
    node.expect_dtype("float32", weights, out)
    rows, width, skips, counts = node.extents(0, _NUMBERS)
    numbers = node.extents(_NUMBERS, len(node.params) - _NUMBERS)
    node.require(rows * width == out.nelem, "output size")
    node.require(rows > 0 and counts < 2, "params")
    node.require(strings or x.nelem % rows == 0, "input size")
    used = sum([(i + 1) * n for i, n in enumerate(numbers)])
    node.require(used == grams.nelem and sum(numbers) == index.nelem, "n-grams")
    node.require(weights.nelem in (0, index.nelem), "weights")
    for i in range(index.nelem):
        node.require(0 <= index.data[i] < width, "place in the output")
    step = _Tfidf(x, words.data, out.data, (rows, width, skips, counts))
    step.grams, step.index, step.numbers = grams.data, index.data, numbers
    step.weights = weights.data if weights.nelem else None
    return rows, step.step


class _Tfidf:
    """The step; its extent is rows."""

    def __init__(self, x, words, out, shape):
        self.x, self.words, self.out = x, words, out
        self.rows, self.width, self.skips, self.counts = shape

    def step(self, lo, hi):
        data = self.x.data
        n = len(data) // self.rows
        while lo < hi:
            at = lo * self.width
            end = at + self.width
            while at < end:
                self.out[at] = 0.0
                at += 1
            words = [self._find(data[i]) for i in range(lo * n, lo * n + n)]
            self._count_all(words, lo * self.width)
            lo += 1

    def _find(self, v):
        """Return the index of a word, or -1."""
        words = self.words
        low, high = 0, len(words)
        while low < high:
            middle = (low + high) // 2
            if words[middle] < v:
                low = middle + 1
            else:
                high = middle
        return low if low < len(words) and words[low] == v else -1

    def _count_all(self, words, out_at):
        at = first = 0
        for i, number in enumerate(self.numbers):
            skip = 0
            while number and i * (skip + 1) < len(words) and skip <= (self.skips if i else 0):
                for start in range(len(words) - i * (skip + 1)):
                    k = self._gram(words, start, skip + 1, (at, i + 1, number))
                    if k >= 0:
                        self._add(out_at + self.index[first + k], first + k)
                skip += 1
            at += number * (i + 1)
            first += number

    def _gram(self, words, start, distance, table):
        """Return the number of the n-gram that starts here, or -1."""
        at, length, number = table
        low, high = 0, number
        while low < high:
            middle = (low + high) // 2
            k = 0
            place = at + middle * length
            while k < length and self.grams[place + k] == words[start + k * distance]:
                k += 1
            if k == length:
                return middle
            if self.grams[place + k] < words[start + k * distance]:
                low = middle + 1
            else:
                high = middle
        return -1

    def _add(self, at, k):
        weight = self.weights[k] if self.weights else 1.0
        self.out[at] = self.out[at] + weight if self.counts else weight
