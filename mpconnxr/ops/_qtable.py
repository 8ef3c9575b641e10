"""What goes with each channel of qconv and qdepthwise: see loops/qdot.

It lies before the weights: 8 bytes a channel, or few bits, of which a step makes those 8 bytes in
its scratch (see loops/channels).
"""

from .. import forms
from ..parameters import BIAS, block

# params
_BITS = const(0)  # of c with the lowest bits of M; 32: the 8 bytes
_WORD_BITS = const(1)  # of f and the upper bits of M
_WORD = const(2)  # the least one, in 2**16 unless all are the same
_LOW = const(3)  # 128 * lowest bits of M + the common ones
_LEAST = const(4)  # signed; of c
_N_PARAMS = const(5)

_AS_IT_IS = 32
_MOST_BITS = 29


class Table:
    """nbytes: before the weights; room: bytes that it takes in scratch; is_packed."""

    _sums = None

    def __init__(self, node, first, channels):
        bits, word_bits, word, low = node.extents(first, _LEAST)
        [least] = node.signed(first + _LEAST, 1)
        self.is_packed = bits != _AS_IT_IS
        self.nbytes, self.room, common = 8 * channels, 0, low & 127
        if self.is_packed:
            node.require(max(bits, word_bits) <= _MOST_BITS, "bits of a channel")
            low >>= 7
            node.require(low <= min(bits, 7), "lowest bits of a channel")
            node.require(not word_bits or word < 1 << 13, "least word")
            word <<= 16 if word_bits else 0
            self.nbytes, self.room = ((bits + word_bits) * channels + 31) // 32 * 4, 8 * channels
        self._p = block(0, 0, channels, bits, BIAS + least, word_bits, word, low, common)
        self.at = 0

    def bind(self, w, scratch, at):
        """at: where its room begins, a multiple of 4."""
        self._w, self._scratch = w, scratch
        self._p[1] = self.at = at
        self._channels = forms.get("channels").channels

    def bind_sums(self, node, groups, row, zx):
        """Each c lacks -zx * (sum of its row of w): see loops/row_sums. row: bytes of one."""
        node.require(255 * row * zx < 1 << 26, "sums of rows")
        self._words = [t.view("i") for t in (node.inputs[1], node.scratch[0])]
        channels = self._p[2] // groups
        self._q = block(self.nbytes // 4, self.at // 4, groups, channels, row // 4, zx << 5)
        self._sums = forms.get("row_sums").row_sums

    def fill(self):
        self._channels(self._w, self._w, self._scratch, self._p)
        if self._sums:
            w, out = self._words
            self._sums(w, w, out, self._q)
