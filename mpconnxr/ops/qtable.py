"""What goes with each channel of qconv and qdepthwise: see loops_qdot.

It lies before the weights: 8 bytes a channel, or few bits, of which a step makes those 8 bytes in
its scratch (see loops_channels). Four parameters say how: bits of c (32: the 8 bytes), bits of the
word, the least word (in units of 2**16 unless all are the same), and signed the least c.
"""

from .. import forms
from ..node import BIAS, block

N_PARAMS = 4
_AS_IT_IS = 32
_MOST_BITS = 29


class Table:
    """nbytes: before the weights; room: bytes that it takes in scratch; is_packed."""

    def __init__(self, node, first, channels):
        bits, word_bits, word = node.extents(first, 3)
        [least] = node.signed(first + 3, 1)
        self.is_packed = bits != _AS_IT_IS
        self.nbytes, self.room = 8 * channels, 0
        if self.is_packed:
            node.require(max(bits, word_bits) <= _MOST_BITS, "bits of a channel")
            node.require(not word_bits or word < 1 << 13, "least word")
            word <<= 16 if word_bits else 0
            self.nbytes, self.room = ((bits + word_bits) * channels + 31) // 32 * 4, 8 * channels
        self._p = block(0, 0, channels, bits, BIAS + least, word_bits, word)
        self.at = 0

    def bind(self, w, scratch, at):
        """at: where its room begins, a multiple of 4."""
        self._w, self._scratch = w, scratch
        self._p[1] = self.at = at
        self._channels = forms.get("loops_channels").channels

    def fill(self):
        self._channels(self._w, self._w, self._scratch, self._p)
