"""Compute log-mel spectra of sound, the input of models that hear, in integers.

    from mpconnxr.io.audio import LogMel
    mel = LogMel(8000)
    mel.frame(samples, 0, out)      # bytes of int16 -> mel.bands numbers in out

With x the samples of a frame as int16 and h a Hann window of `size` samples:

    X[k] = sum over n of h[n] * x[n] * exp(-2 pi i k n / size)
    out[b] = 256 * log2(sum over k of triangle[b, k] * |X[k]|**2), 0 where that is negative

The triangles are spaced evenly from low to high on the scale mel(f) = 2595 * log10(1 + f / 700).
Powers of two are kept beside 16-bit values, so that quiet frames are as exact as loud ones:
tests/host/device/test_audio.py has the error against floats.
"""

import math
from array import array

from .. import forms
from ..arguments import MISFITS, integer, number
from ..errors import InputError
from ..parameters import BIAS, block
from ..tensor import view

_LARGEST = 1024  # samples of a frame
_FASTEST = 1 << 20  # samples a second
_BYTES = (bytes, bytearray, memoryview)
LARGEST_AT = (1 << 30) - 1  # of an index


class LogMel:
    """Log-mel spectrum of frames.

    It takes about 13 bytes of RAM for each sample of a frame.
    """

    def __init__(self, rate, size=256, bands=20, low=100, high=None):
        """Create the tables.

        Args:
            rate: samples a second.
            size: samples of a frame, a power of two from 16 to 1024.
            bands: number of bands.
            low: start of the first band [Hz].
            high: end of the last band [Hz]; by default half the rate.

        Raises:
            InputError: an argument does not fit.
        """
        if integer("size", size, 16, _LARGEST) & (size - 1):
            raise InputError("size: a power of two from 16 to {}".format(_LARGEST))
        integer("bands", bands, 1, size // 4)
        half = number("rate", rate, 1, _FASTEST) / 2
        high = half if high is None else number("high", high, 0, half)
        number("low", low, 0, high)
        self.rate, self.size, self.bands = rate, size, bands
        loops = forms.get("audio")
        self._loops = (loops.window, loops.fft, loops.mel, loops.logs)
        self._make_tables()
        self._make_triangles(low, high)
        buffer = bytearray(4 * (2 * size + 3 * bands + 4))
        self._spectrum = view(buffer, 0, "i", 2 * size)
        self._sums = view(buffer, 8 * size, "i", 2 * bands + 4)
        self._logs = view(buffer, 8 * size + 8 * bands + 16, "i", bands)
        bits = 0
        while 1 << bits < size:
            bits += 1
        self._window_p = block(0, size, bits, 0)
        self._fft_p = block(size, 0)
        self._logs_p = block(bands, 0)

    def _make_tables(self):
        n = self.size
        half = _cosines(n)
        self._window = array("H", [min(32767, 16384 - c) for c in half])
        self._cosines = array("H", [16384 + half[min(k, n - k)] for k in range(3 * n // 4)])
        self._log2 = array("H", [round(4096 * math.log(1 + i / 64, 2)) for i in range(65)])

    def _make_triangles(self, low, high):
        """Make the table of bins between low and high: the band that rises there, its weight."""
        ends = self._scale(low), self._scale(high)
        step = (ends[1] - ends[0]) / (self.bands + 1)
        if not step > 0:
            raise InputError("low: less than high is needed")
        table, first = [], None
        for k in range(self.size // 2 + 1):
            place = (self._scale(k * self.rate / self.size) - ends[0]) / step
            if 0 <= place < self.bands + 1:
                first = k if first is None else first
                table += [int(place), round(256 * (place - int(place)))]
        if not table:
            raise InputError("low, high: no frequency of the spectrum is between them")
        # One more band takes the falling side of the last one; it is no output.
        self._triangles = array("H", table)
        self._mel_p = block(self.size, first, len(table) // 2, self.bands + 1, 0)

    def _scale(self, hz):
        """Return the place of a frequency on the scale on which bands are spaced evenly."""
        return 2595 * math.log(1 + hz / 700, 10)

    def frame(self, samples, first, out, at=0):
        """Write the bands of a frame to out[at], out[at + 1], ... as integers.

        Args:
            samples: bytes-like, int16, low byte first.
            first: offset of the frame's first byte.
            out: flat array or view of int16 and wider, or of floats, such as a model's input.
            at: index of the first band in `out`.

        Raises:
            InputError: an argument does not fit.
        """
        self.measure(samples, first)
        check(out, self.bands, at)
        try:
            for b in range(self.bands):
                out[at + b] = self._logs[b]
        except MISFITS:
            refuse(self.bands, at)

    def measure(self, samples, first):
        """Compute the bands of a frame into the object's own buffer. Raises InputError."""
        if not isinstance(samples, _BYTES):
            raise InputError("samples: bytes of int16 are needed")
        integer("first", first, 0, LARGEST_AT)
        if first + 2 * self.size > len(samples):
            raise InputError("a frame of {} bytes goes beyond the samples".format(2 * self.size))
        window, fft, mel, logs = self._loops
        spectrum, sums, p = self._spectrum, self._sums, self._window_p
        p[0] = first
        window(samples, self._window, spectrum, p)
        fft(spectrum, self._cosines, spectrum, self._fft_p)
        mel(spectrum, self._triangles, sums, self._mel_p)
        down = self._fft_p[1] + self._mel_p[4] - p[3]
        self._logs_p[1] = BIAS + 2 * down - 8
        logs(sums, self._log2, self._logs, self._logs_p)


def check(out, n, at):
    """Raise InputError for an index that is none, and for an output of rows or of bytes.

    A board would keep the lowest byte of each number; not every firmware knows that of a view.
    """
    integer("at", at, 0, LARGEST_AT)
    is_flat = getattr(out, "ndim", 1) == 1  # an array of numpy may have rows
    if not is_flat or isinstance(out, bytearray) or getattr(out, "itemsize", 2) < 2:
        refuse(n, at)


def refuse(n, at):
    """Raise the InputError for an output that does not take n numbers from an index on."""
    raise InputError(
        "out: no room for {} integers of 16 bits, the first one at {}, in a flat array".format(
            n, at
        )
    )


# Cosine and sine of 2 * pi / 1024, in units of 2**-60.
_TURN = (1152899801185339687, 7074193361797233)


def _cosines(n):
    """Return round(16384 * cos(2 * pi * k / n)), k from 0 to n / 2; n: a power of two up to 1024.

    The arithmetic is that of integers: 32-bit floats would round some values wrongly.
    """
    c, s = _TURN
    size = 1024
    while size > n:
        c, s = (c * c - s * s) >> 60, 2 * c * s >> 60
        size //= 2
    result, x, y = [], 1 << 60, 0
    for _ in range(n // 4 + 1):
        result.append((x + (1 << 45)) >> 46)
        x, y = (x * c - y * s) >> 60, (x * s + y * c) >> 60
    return result + [-result[n // 2 - k] for k in range(n // 4 + 1, n // 2 + 1)]
