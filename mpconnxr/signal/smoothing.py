"""Turn the answers of many runs into steady ones: averages, agreement, hysteresis.

    from mpconnxr.signal.smoothing import Agreement, Average, Hysteresis
    average = Average(model.outputs[0], 4, threshold=0.6)
    agreement = Agreement(3, 5)
    while True:
        model.run()
        label = agreement.update(average.update())      # None: no class is sure

A step allocates nothing.
"""

from math import floor

from ..arguments import MISFITS, integer, number
from ..errors import InputError

_MOST_RUNS = 64  # so that sums of scores stay below 2**30
_MOST = (1 << 24) - 1  # units of a score
_LARGEST = 256  # threshold
_INFINITY = float("inf")


class Average:
    """Means of a model's scores over its last runs.

    Scores are integers here: floats in units of 2**-16, limited to -256 .. 256, quantized ones in
    256ths of their scale. NaN counts as -256.
    """

    def __init__(self, output, n, threshold=None):
        """Create it without runs.

        Args:
            output: Tensor of the scores, float32, int8 or uint8.
            n: runs, 1 to 64.
            threshold: least mean of an answer.

        Raises:
            InputError: an argument does not fit.
        """
        dtype = getattr(output, "dtype", None)
        if dtype not in ("float32", "int8", "uint8") or not getattr(output, "nelem", 0):
            raise InputError("output: a Tensor of float32, int8 or uint8 is needed")
        self.n = integer("n", n, 1, _MOST_RUNS)
        self._halves, self._data, self._zero, self._unit = None, output.data, 0, 1 / 256
        if dtype == "float32":
            self._halves, self._unit = output.view("H"), 1 / 65536
        elif output.scale is not None:
            self._zero, self._unit = output.zero_point, output.scale / 256
        self._least = None
        if threshold is not None:
            number("threshold", threshold, -_LARGEST, _LARGEST)
            self._least = floor(min(max(threshold / self._unit + 0.5, -_MOST), _MOST))
        self._ring, self._sums = [0] * (n * output.nelem), [0] * output.nelem
        self.reset()

    def reset(self):
        """Forget all runs."""
        self._at = self._count = 0
        for i in range(len(self._ring)):
            self._ring[i] = 0
        for i in range(len(self._sums)):
            self._sums[i] = 0

    def update(self):
        """Add the scores of the last run.

        Returns:
            index of the largest mean, the lower one if two are equal; None if it is less than the
            threshold.
        """
        ring, sums, best = self._ring, self._sums, 0
        at = self._at
        for i in range(len(sums)):
            v = self._score(i)
            sums[i] += v - ring[at]
            ring[at] = v
            if sums[i] > sums[best]:
                best = i
            at += 1
        self._at = at % len(ring)
        self._count = min(self._count + 1, self.n)
        if self._least is not None and sums[best] < self._least * self._count:
            return None
        return best

    def mean(self, i):
        """Return the mean score of class i, a float: a new object. Raises InputError."""
        total = self._sums[integer("i", i, 0, len(self._sums) - 1)]
        return total * self._unit / (self._count or 1)

    def _score(self, i):
        """Return a score of the output in its units."""
        if not self._halves:
            return (self._data[i] - self._zero) << 8
        low, high = self._halves[2 * i], self._halves[2 * i + 1]
        shift = 134 - (high >> 7 & 255)  # of the 24 bits of the float
        if shift > 24:
            return 0
        v = _MOST
        if shift >= 0:
            v = ((high & 127 | 128) << 16 | low) + (1 << shift >> 1) >> shift
        elif shift == 134 - 255 and (high & 127 or low):  # NaN
            return -v
        return -v if high >> 15 else v


class Agreement:
    """The answer that at least n of the last m runs gave."""

    def __init__(self, n, m):
        """Create it without answers; n is more than half of m, m at most 64. Raises InputError."""
        integer("m", m, 1, _MOST_RUNS)
        self.n, self._last, self._at = integer("n", n, m // 2 + 1, m), [None] * m, 0

    def update(self, answer):
        """Add an answer, None for an unknown one. Return the one that n agree on, else None.

        Raises InputError.
        """
        last, at = self._last, self._at
        self._at = (at + 1) % len(last)
        last[at] = answer
        try:
            for each in last:
                if each is not None and last.count(each) >= self.n:
                    return each
        except MISFITS:  # arrays, which are not compared
            last[at] = None
            raise InputError("answer: a label or a number is needed")
        return None


class Hysteresis:
    """A state that a score switches on at one threshold, and off below a lower one."""

    def __init__(self, on, off):
        """Create it, off; the threshold `off` is at most that of `on`. Raises InputError."""
        self._on = number("on", on, -_INFINITY, _INFINITY)
        self._off = number("off", off, -_INFINITY, on)
        self.is_on = False

    def update(self, score):
        """Add a score, and return True if the state is on. NaN leaves it as it is.

        Raises InputError.
        """
        try:
            if score >= self._on:
                self.is_on = True
            elif score < self._off:
                self.is_on = False
        except MISFITS:
            raise InputError("score: a number is needed")
        return self.is_on
