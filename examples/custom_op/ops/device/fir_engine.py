"""The filter engine: here a simulation with the interface of the real one.

On a board with such an engine the two methods write to its registers, start it and wait. They may
pass on addresses (`uctypes.addressof(x)`), since the kernel has checked all sizes before.
"""

MAX_TAPS = 32


class FirEngine:
    def load(self, taps):
        """Load the filter's taps, at most MAX_TAPS."""
        self._taps = taps

    def filter(self, x, y, lo, hi):
        """Compute y[i] = sum of taps[k] * x[i + k] for lo <= i < hi and wait for the end."""
        taps = self._taps
        n = len(taps)
        while lo < hi:
            total = 0.0
            k = 0
            while k < n:
                total += taps[k] * x[lo + k]
                k += 1
            y[lo] = total
            lo += 1
