"""random: pseudo-random numbers. Every load starts with the same sequence.

Serves RandomUniform, RandomNormal, their Like forms, Bernoulli and Multinomial (all opsets). Each
run continues where the last one stopped.

    out    float32 or float64

The generator is xorshift with shifts 13, 17, 5 on 32 bits (G. Marsaglia), of which a number takes
24 bits; normal numbers by the method of Box and Muller. Raises ModelError. A step allocates boxed
floats and integers of more than 30 bits.
"""

import math
import struct

# params
_OP = const(0)  # 0 uniform in [a, b), 1 normal with mean a and standard deviation b
_A = const(1)  # float
_B = const(2)  # float
_SEED = const(3)  # any
_N_PARAMS = const(4)

_NO_ZERO = 0x9E3779B9  # replaces seed 0, at which the generator would stay
_MASK = 0xFFFFFFFF


def prepare(node):
    node.expect(0, 1, _N_PARAMS)
    out = node.outputs[0]
    node.require(out.dtype in ("float32", "float64"), "dtype " + out.dtype)
    node.require(0 <= node.params[_OP] < 2, "operation")
    a, b = [struct.unpack("<f", struct.pack("<i", node.params[_A + i]))[0] for i in range(2)]
    step = _Random(out.data, a, b, node.params[_SEED])
    return out.nelem, step.normal if node.params[_OP] else step.uniform


class _Random:
    """The step; its extent is elements."""

    def __init__(self, out, a, b, seed):
        self.out, self.a, self.b = out, a, b
        self.state = (seed & _MASK) or _NO_ZERO
        for _ in range(8):  # a small seed takes a few rounds to spread over all bits
            self._next()

    def _next(self):
        """Return a number from 0 to below 1, in steps of 2**-24."""
        s = self.state
        s ^= s << 13 & _MASK
        s ^= s >> 17
        s ^= s << 5 & _MASK
        self.state = s
        return (s >> 8) * (1.0 / (1 << 24))

    def uniform(self, lo, hi):
        reach = self.b - self.a
        while lo < hi:
            self.out[lo] = self.a + self._next() * reach
            lo += 1

    def normal(self, lo, hi):
        while lo < hi:
            radius = math.sqrt(-2.0 * math.log(1.0 - self._next()))
            self.out[lo] = self.a + self.b * radius * math.cos(2.0 * math.pi * self._next())
            lo += 1
