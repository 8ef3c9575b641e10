"""Compute mel-frequency cepstral coefficients of sound, in integers, for older models of speech.

    from mpconnxr.io.mfcc import Mfcc
    mfcc = Mfcc(8000, coefficients=13)
    mfcc.frame(samples, 0, out)     # bytes of int16 -> 13 numbers in out

They are the orthonormal cosine transform (DCT-II) of the bands of audio.LogMel:

    s[k] = sqrt(2 / bands), s[0] = sqrt(1 / bands)
    out[k] = 64 * s[k] * sum over b of log2(energy[b]) * cos(pi * k * (b + 1/2) / bands)

rounded, and limited to int16, which only sounds of full scale in all of more than 50 bands need.
"""

import math
from array import array

from .. import forms
from ..arguments import MISFITS, integer
from ..parameters import block
from ..tensor import view
from .audio import LogMel, check, refuse


class Mfcc(LogMel):
    """Mel-frequency cepstral coefficients of frames.

    It takes 12 bytes of RAM a band more than a LogMel.
    """

    def __init__(self, rate, size=256, bands=20, low=100, high=None, coefficients=13):
        """Create the tables of a LogMel, and of `coefficients`, 1 to bands. Raises InputError."""
        LogMel.__init__(self, rate, size, bands, low, high)
        integer("coefficients", coefficients, 1, bands)
        self.coefficients = coefficients
        self._cepstra = forms.get("cepstra").cepstra
        bits, scale = 14, math.sqrt(2 / bands)
        while scale * (2 << bits) <= 16384:
            bits += 1
        while scale * (1 << bits) > 16384:
            bits -= 1
        turn = [scale * math.cos(math.pi * i / (2 * bands)) for i in range(4 * bands)]
        turn.append(math.sqrt(1 / bands))
        self._dct = array("H", [16384 + round(v * (1 << bits)) for v in turn])
        self._dct_p = block(bands, coefficients, bits - 10)
        self._cepstral = view(bytearray(4 * coefficients), 0, "i", coefficients)

    def frame(self, samples, first, out, at=0):
        """Write the coefficients of a frame to out[at], out[at + 1], ...: see LogMel.frame."""
        self.measure(samples, first)
        self._cepstra(self._logs, self._dct, self._cepstral, self._dct_p)
        check(out, self.coefficients, at)
        try:
            for k in range(self.coefficients):
                out[at + k] = min(max(self._cepstral[k], -32768), 32767)
        except MISFITS:
            refuse(self.coefficients, at)
