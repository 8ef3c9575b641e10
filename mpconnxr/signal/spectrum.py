"""Compute spectra of a sensor's samples, in integers.

    from mpconnxr.signal.spectrum import Spectrum
    spectrum = Spectrum(50, size=64, bands=8, channels=3)
    window = Window(spectrum.samples, channels=3, hop=16, channels_first=True)
    if window.push(sample):
        spectrum.write(model.inputs[0].data)    # 3 rows of 8 numbers

A band is that of io.audio.LogMel, 256 * log2 of an energy, but the bands are spaced evenly in Hz,
and each channel's mean is subtracted before, so that gravity does not count.
"""

from ..arguments import integer
from ..io.audio import LogMel
from ..tensor import view

_MOST_CHANNELS = 64


class Spectrum(LogMel):
    """Spectra of the channels of a sensor, in bands of equal width.

    It takes 2 bytes of RAM a sample and channel more than a LogMel.

    Attributes:
        samples: view of int16 (channels, size), to be filled before each write.
    """

    def __init__(self, rate, size=64, bands=8, low=0, high=None, channels=1):
        """Create the tables; arguments are those of LogMel. Raises InputError."""
        LogMel.__init__(self, rate, size, bands, low, high)
        self.channels = integer("channels", channels, 1, _MOST_CHANNELS)
        self._bytes = bytearray(2 * size * channels)
        self.samples = view(self._bytes, 0, "h", size * channels)

    def _scale(self, hz):
        return hz

    def write(self, out):
        """Write the bands of each channel to out, row after row; the samples lose their mean.

        Args:
            out: flat array or view of int16 and wider, or of floats, such as a model's input.

        Raises:
            InputError: out does not fit.
        """
        for c in range(self.channels):
            self._subtract_mean(c * self.size)
            self.frame(self._bytes, 2 * c * self.size, out, c * self.bands)

    def _subtract_mean(self, first):
        samples, total = self.samples, 0
        for i in range(first, first + self.size):
            total += samples[i]
        mean = (2 * total + self.size) // (2 * self.size)
        for i in range(first, first + self.size):
            samples[i] = min(max(samples[i] - mean, -32768), 32767)
