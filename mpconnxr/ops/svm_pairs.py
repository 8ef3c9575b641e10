"""svm_pairs: the decision of each pair of classes (i, j), i < j, and how many each class won.

    score[n, ij] = rho[ij] + sum over vectors v of i of w[j - 1, v] * k[n, v]
                           + sum over vectors v of j of w[i, v] * k[n, v]
    votes[n, c] = number of pairs that c won: i where the score is > 0, else j

Serves SVMClassifier (all opsets). Vectors are sorted by class.

    k       float32 (N, V), the kernel function of sample and support vector
    w       float32 (C - 1, V);  rho  float32 (pairs)
    score   float32 (N, pairs);  votes  int32 (N, C)
Raises ModelError. A step allocates only boxed floats.
"""

from array import array

# params
_N = const(0)
_CLASSES = const(1)
_VECTORS = const(2)  # [classes]

_BLOCK = 32  # sums run in blocks, for single floats


def prepare(node):
    node.require(len(node.params) >= 4, "params")
    n, n_classes = node.extents(0, _VECTORS)
    node.expect(3, 2, _VECTORS + n_classes)
    k, w, rho = node.inputs
    score, votes = node.outputs
    node.expect_dtype("float32", k, w, rho, score)
    node.expect_dtype("int32", votes)
    counts = node.extents(_VECTORS, n_classes)
    n_vectors, n_pairs = sum(counts), n_classes * (n_classes - 1) // 2
    node.require(n * n_vectors == k.nelem and (n_classes - 1) * n_vectors == w.nelem, "sizes")
    node.require(n * n_pairs == score.nelem and n * n_classes == votes.nelem, "output sizes")
    node.require(rho.nelem == n_pairs, "number of rho")
    step = _Pairs(k.data, w.data, rho.data)
    firsts = [sum(counts[:c]) for c in range(n_classes + 1)]
    step.firsts, step.n_classes, step.n_vectors = array("i", firsts), n_classes, n_vectors
    step.score, step.votes = score.data, votes.data
    return n, step.step


class _Pairs:
    """The extent is samples."""

    def __init__(self, k, w, rho):
        self.k, self.w, self.rho = k, w, rho

    def step(self, lo, hi):
        n = self.n_classes
        while lo < hi:
            c, votes = 0, lo * n
            while c < n:
                self.votes[votes + c] = 0
                c += 1
            self._row(lo * self.n_vectors, votes, lo * len(self.rho))
            lo += 1

    def _row(self, first, votes, at):
        n, n_vectors, pair = self.n_classes, self.n_vectors, 0
        i = 0
        while i < n:
            j = i + 1
            while j < n:
                total = self._dot(first, i, (j - 1) * n_vectors)
                total += self._dot(first, j, i * n_vectors) + self.rho[pair]
                self.score[at + pair] = total
                self.votes[votes + (i if total > 0 else j)] += 1
                pair += 1
                j += 1
            i += 1

    def _dot(self, first, c, row):
        """Sum over the vectors of class c."""
        k, w = self.k, self.w
        i, end = self.firsts[c], self.firsts[c + 1]
        total = 0.0
        while i < end:
            stop = min(i + _BLOCK, end)
            part = 0.0
            while i < stop:
                part += w[row + i] * k[first + i]
                i += 1
            total += part
        return total
