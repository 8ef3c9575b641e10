"""Kernel fir: a filter, computed by the board's filter engine.

    y[i] = sum of taps[k] * x[i + k]

Serves com.acme::Fir.

    x  float32 (1, n);  taps  float32 (k);  y  float32 (1, n - k + 1)
Raises ModelError. A step allocates what the engine does.
"""

from .fir_engine import MAX_TAPS, FirEngine

# params: none


def prepare(node):
    node.expect(2, 1, 0)
    x, taps, y = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, taps, y)
    node.require(0 < taps.nelem <= MAX_TAPS, "number of taps")
    node.require(y.nelem == x.nelem - taps.nelem + 1, "sizes differ")
    return y.nelem, _Fir(FirEngine(), x.data, taps.data, y.data).step


class _Fir:
    def __init__(self, engine, x, taps, y):
        self.engine, self.x, self.taps, self.y = engine, x, taps, y

    def step(self, lo, hi):
        self.engine.load(self.taps)  # another step may have loaded other taps
        self.engine.filter(self.x, self.y, lo, hi)
