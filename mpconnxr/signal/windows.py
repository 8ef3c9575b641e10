"""Collect the newest samples of a sensor into the input of a model.

    from mpconnxr.signal.windows import Window
    window = Window(model.inputs[0].data, channels=3, hop=16)
    for sample in sensor.samples():
        if window.push(sample):
            print(model.predict())

A step allocates nothing. Under CPython, `out` may be a flat array of numpy, so that training data
have the layout of the board's.
"""

from ..arguments import MISFITS, integer
from ..errors import InputError

_MOST = 1 << 24  # samples


class Window:
    """Sliding window over the samples of one or more channels.

    It keeps the samples' own objects, 4 bytes of RAM a number on most boards: reading a float out
    of an array would make an object of it.
    """

    def __init__(self, out, channels=1, hop=None, channels_first=False):
        """Create an empty window.

        Args:
            out: flat sequence that each full window is written to, such as the data of a model's
                input. It takes as many samples as fit.
            channels: numbers of a sample.
            hop: samples from a full window to the next one; by default windows do not overlap.
            channels_first: a row of `out` is a channel, as in an input of shape (channels,
                length). By default it is a sample, as in (length, channels).

        Raises:
            InputError: an argument does not fit.
        """
        try:
            n = len(out) if getattr(out, "ndim", 1) == 1 else 0  # numpy's len counts rows
        except MISFITS:
            n = 0
        if not n:
            raise InputError("out: a flat sequence of numbers is needed")
        if n % integer("channels", channels, 1, n):
            raise InputError("channels: {} numbers are no whole samples".format(n))
        self.channels, self.length = channels, n // channels
        self.hop = self.length if hop is None else integer("hop", hop, 1, _MOST)
        self._channel_step, self._sample_step = 1, channels
        if channels_first:
            self._channel_step, self._sample_step = self.length, 1
        self._out, self._ring = out, [0] * n
        self.reset()

    def reset(self):
        """Forget all samples, as after a gap in them."""
        self._at, self._missing = 0, self.length

    def push(self, sample):
        """Add a sample, and write the window if one is due.

        Args:
            sample: a number if there is one channel, else a sequence with a number per channel.

        Returns:
            True if `out` holds a new window: after `length` samples, then after each `hop`.

        Raises:
            InputError: the sample does not have a number per channel, or `out` does not take it.
        """
        ring, at, channels = self._ring, self._at, self.channels
        try:
            if channels == 1:
                ring[at] = sample
            else:
                if len(sample) != channels:
                    raise IndexError
                for c in range(channels):
                    ring[at + c] = sample[c]
        except MISFITS:
            raise InputError("sample: {} numbers are needed".format(channels))
        self._at = (at + channels) % len(ring)
        self._missing -= 1
        if self._missing:
            return False
        self._missing = self.hop
        try:
            self._write()
        except MISFITS:
            raise InputError("sample: a value does not fit into the window's out")
        return True

    def _write(self):
        out, ring = self._out, self._ring  # more of them would make a tuple
        i, first = self._at, 0
        for _ in range(self.length):
            k = first
            for c in range(self.channels):
                out[k] = ring[i + c]
                k += self._channel_step
            first += self._sample_step
            i += self.channels
            if i == len(ring):
                i = 0
