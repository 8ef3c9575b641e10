"""svm_proba: class probabilities from the decisions of pairs of classes.

    r[i, j] = 1 - sigmoid(score[ij] * a[ij] + b[ij]) within 1e-7 of 0 and 1; r[j, i] = 1 - r[i, j]

(Platt), then the p that minimises sum over pairs of (r[j, i] * p[i] - r[i, j] * p[j]) ** 2, by
the iteration of Wu, Lin and Weng, "Probability Estimates for Multi-class Classification by
Pairwise Coupling" (2004), algorithm 2, as LIBSVM and onnxruntime do: until no error is above
0.005 / C, at most 100 times.

Serves SVMClassifier (all opsets) with prob_a and prob_b.

    score    float32 (N, pairs of i < j);  a, b  float32 (pairs);  out  float32 (N, C)
    scratch  float32 (C, C) twice and (C)
    params   N, C
Raises ModelError. A step allocates only boxed floats.
"""

from ._float_math import NAN, sigmoid

_LEAST = 1e-7
_MAX_ROUNDS = 100


def prepare(node):
    node.expect(3, 1, 2, 3)
    score, a, b = node.inputs
    out = node.outputs[0]
    node.expect_dtype("float32", score, a, b, out, *node.scratch)
    n, n_classes = node.extents(0, 2)
    n_pairs = n_classes * (n_classes - 1) // 2
    node.require(n_classes > 1 and a.nelem == b.nelem == n_pairs, "number of classes or pairs")
    node.require(n * n_pairs == score.nelem and n * n_classes == out.nelem, "sizes")
    r, q, qp = node.scratch
    square = n_classes * n_classes
    node.require(r.nelem == q.nelem == square and qp.nelem == n_classes, "scratch")
    step = _Proba(score.data, out.data, n_classes)
    step.a, step.b = a.data, b.data
    step.r, step.q, step.qp = r.data, q.data, qp.data
    return n, step.step


class _Proba:
    """The extent is samples."""

    def __init__(self, score, out, n):
        self.score, self.out, self.n = score, out, n

    def step(self, lo, hi):
        while lo < hi:
            self._set_r(lo * len(self.a))
            self._set_q()
            self._start(lo * self.n)
            rounds = 0
            while rounds < _MAX_ROUNDS and self._improve(lo * self.n):
                rounds += 1
            lo += 1

    def _set_r(self, at):
        n, pair = self.n, 0
        i = 0
        while i < n:
            j = i + 1
            while j < n:
                v = 1.0 - sigmoid(self.score[at + pair] * self.a[pair] + self.b[pair])
                v = min(max(v, _LEAST), 1.0 - _LEAST)
                self.r[i * n + j] = v
                self.r[j * n + i] = 1.0 - v
                pair += 1
                j += 1
            i += 1

    def _set_q(self):
        """Q[i, i] = sum of r[j, i] ** 2, Q[i, j] = -r[j, i] * r[i, j]"""
        n, r, q = self.n, self.r, self.q
        i = 0
        while i < n:
            j, total = 0, 0.0
            while j < n:
                if j != i:
                    total += r[j * n + i] * r[j * n + i]
                    q[i * n + j] = -r[j * n + i] * r[i * n + j]
                j += 1
            q[i * n + i] = total
            i += 1

    def _start(self, at):
        i = 0
        while i < self.n:
            self.out[at + i] = 1.0 / self.n
            i += 1

    def _improve(self, at):
        """One round over all classes; False once p is good enough."""
        n, p, q, qp = self.n, self.out, self.q, self.qp
        pqp = self._products(at)
        if self._error(pqp) < 0.005 / n:
            return False
        i = 0
        while i < n:
            own = q[i * n + i]
            change = (pqp - qp[i]) / own if own else NAN
            scale = 1.0 + change
            if not scale:
                scale = NAN
            p[at + i] += change
            pqp = (pqp + change * (change * own + 2.0 * qp[i])) / scale / scale
            j = 0
            while j < n:
                qp[j] = (qp[j] + change * q[i * n + j]) / scale
                p[at + j] = p[at + j] / scale
                j += 1
            i += 1
        return True

    def _products(self, at):
        """Sets Q p; returns p' Q p."""
        n, p, q = self.n, self.out, self.q
        result, i = 0.0, 0
        while i < n:
            j, total = 0, 0.0
            while j < n:
                total += q[i * n + j] * p[at + j]
                j += 1
            self.qp[i] = total
            result += p[at + i] * total
            i += 1
        return result

    def _error(self, pqp):
        most, i = 0.0, 0
        while i < self.n:
            most = max(most, abs(self.qp[i] - pqp))
            i += 1
        return most
