"""The filter engine: here a stand-in without hardware, which has the same interface.

On a board with such an engine the two methods write to its registers, start it and wait. The
kernel has checked all sizes before it calls them; that is why they may hand addresses on
(`uctypes.addressof(x)`).
"""

MAX_TAPS = 32


class FirEngine:
    def load(self, taps):
        """Takes over the filter's taps, at most MAX_TAPS."""
        self._taps = taps

    def filter(self, x, y, lo, hi):
        """y[i] = sum of taps[k] * x[i + k] for lo <= i < hi. Returns when it is done."""
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
