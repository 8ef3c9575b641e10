"""dropout: draw the elements that are kept. Every load starts with the same sequence.

    out[i] = u >= ratio, u drawn from [0, 1) in steps of 2**-53

Serves Dropout in training mode (opset 12 and later). Each run continues where the last one
stopped.

    out    bool

The generator is the Mersenne Twister MT19937 (M. Matsumoto, T. Nishimura), seeded by init_genrand,
with two words per number as in genrand_res53: a seed gives the draws of onnx's reference
implementation. Raises ModelError. A step allocates integers of more than 30 bits; the generator's
state has 2.5 KB.
"""

from array import array

# params
_SEED = const(0)  # any
_UPPER = const(1)  # 27 bits of ratio * 2**53, rounded up
_LOWER = const(2)  # the lower 26 bits
_N_PARAMS = const(3)

_N = const(624)
_M = const(397)
_MASK = 0xFFFFFFFF


def prepare(node):
    node.expect(0, 1, _N_PARAMS)
    out = node.outputs[0]
    node.expect_dtype("bool", out)
    upper, lower = node.extents(_UPPER, 2)
    return out.nelem, _Dropout(out.data, node.params[_SEED], upper, lower).step


class _Dropout:
    """The step; its extent is elements."""

    def __init__(self, out, seed, upper, lower):
        self.out, self.upper, self.lower = out, upper, lower
        self.state, self.at = array("I", bytes(4 * _N)), _N
        word = seed & _MASK
        for i in range(_N):
            self.state[i] = word
            word = (1812433253 * (word ^ word >> 30) + i + 1) & _MASK

    def step(self, lo, hi):
        while lo < hi:
            upper, lower = self._next() >> 5, self._next() >> 6
            at_least = upper > self.upper or upper == self.upper and lower >= self.lower
            self.out[lo] = 1 if at_least else 0
            lo += 1

    def _next(self):
        """Return 32 random bits."""
        if self.at == _N:
            self._twist()
        word = self.state[self.at]
        self.at += 1
        word ^= word >> 11
        word ^= word << 7 & 0x9D2C5680
        word ^= word << 15 & 0xEFC60000
        return word ^ word >> 18

    def _twist(self):
        s = self.state
        for i in range(_N):
            word = s[i] & 0x80000000 | s[(i + 1) % _N] & 0x7FFFFFFF
            s[i] = s[(i + _M) % _N] ^ word >> 1 ^ (0x9908B0DF if word & 1 else 0)
        self.at = 0
