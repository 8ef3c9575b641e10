"""Compute mean and variance of a sensor's newest samples, in integers.

    from mpconnxr.signal.statistics import RunningStats
    stats = RunningStats(50, channels=3)
    stats.push(sample)
    if stats.variance(2) > 40_000: ...      # it moves along z

A step takes the same time for any number of samples, and allocates nothing. All results are exact:
sums are integers of less than 31 bits.
"""

from array import array

from ..arguments import MISFITS, integer
from ..errors import InputError

_MOST = 4096  # samples, so that products stay below 2**30
_MOST_CHANNELS = 64
_SUMS = 3  # a channel: of values; the upper part of that of squares; its lower 15 bits each


class RunningStats:
    """Mean and variance of the last n samples, for each channel.

    Attributes:
        count: samples so far, n at most.
    """

    def __init__(self, n, channels=1):
        """Create them without samples; n is 1 to 4096. Raises InputError."""
        self.n = integer("n", n, 1, _MOST)
        self.channels = integer("channels", channels, 1, _MOST_CHANNELS)
        self._ring = array("h", bytes(2 * n * channels))
        self._new = array("h", bytes(2 * channels))
        self._sums = array("i", bytes(4 * _SUMS * channels))
        self.count = self._at = 0

    def push(self, sample):
        """Add a sample, in the place of the oldest one if there are n.

        Args:
            sample: an integer if there is one channel, else a sequence with an integer per
                channel, each from -32768 to 32767.

        Raises:
            InputError: the sample does not fit; it then counts for no channel.
        """
        ring, new, channels = self._ring, self._new, self.channels
        try:
            if channels > 1 and len(sample) != channels:
                raise IndexError
            for c in range(channels):
                v = sample if channels == 1 else sample[c]
                new[c] = v
                if new[c] != v:  # MicroPython cuts it off
                    raise ValueError
        except MISFITS:
            raise InputError("sample: {} integers of 16 bits are needed".format(channels))
        i = self._at
        for c in range(channels):
            if self.count == self.n:
                self._add(c, ring[i], -1)
            ring[i] = new[c]
            self._add(c, new[c], 1)
            i += 1
        self._at = i % len(ring)
        self.count = min(self.count + 1, self.n)

    def _add(self, c, v, sign):
        """Add a value to the sums of a channel, or subtract it."""
        sums, k = self._sums, _SUMS * c
        square = (v - 1) * (v + 1)  # less 1: that of -32768 has 31 bits
        sums[k] += sign * v
        sums[k + 1] += sign * (square >> 15)
        sums[k + 2] += sign * (square & 32767)

    def mean(self, channel=0):
        """Return the mean of a channel, rounded to the nearest integer; 0 without samples."""
        total, n = self._sums[_SUMS * self._checked(channel)], self.count or 1
        return (2 * total + n) // (2 * n)

    def variance(self, channel=0):
        """Return the mean squared distance from the exact mean, rounded down."""
        k, n = _SUMS * self._checked(channel), self.count
        if n == 0:
            return 0
        total, high, low = self._sums[k], self._sums[k + 1], self._sums[k + 2]
        # n * mean + rest = total; the variance is that of squares / n - (mean + rest / n)**2
        mean, rest = total // n, total % n
        low += high % n << 15
        whole = (high // n << 15) + low // n - (mean - 1) * (mean + 1)
        return whole + (low % n - 2 * mean * rest - (rest * rest + n - 1) // n) // n

    def _checked(self, channel):
        return integer("channel", channel, 0, self.channels - 1)
