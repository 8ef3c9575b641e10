"""mel_weights: triangles that sum up a spectrum by the mel scale, mel = 2595 * log10(1 + f / 700).

    out[j, i] = (j - lower) / (centre - lower)        lower <= j <= centre, 1 if they are the same
                (higher - j) / (higher - centre)      centre <= j < higher

lower, centre, higher: edges i, i + 1, i + 2 of bins + 2 ones at equal distances in mel, each as
the spectrum's line at its frequency. Serves MelWeightMatrix (all opsets).

    bins, length, rate   int32 or int64 (1): of the mel scale, of the transform, of the samples
    low, high            float32 or float64 (1): the band, in Hz
    out                  float32 or float64 (length // 2 + 1, bins)
Raises ModelError; InputError for a size that out does not have and edges beyond the spectrum. A
step allocates boxed floats.
"""

import math

from ..errors import InputError

# params
_DIMS = const(0)  # [*] dim; the two of out; none where they are known

_MOST = 1 << 20  # of a length or rate
_MEL = 2595 / math.log(10)


def prepare(node):
    node.require(len(node.params) in (0, 2), "params")
    node.expect(5, 1, len(node.params))
    out = node.outputs[0]
    for i, t in enumerate(node.inputs):
        kinds = ("int32", "int64") if i < 3 else ("float32", "float64")
        node.require(t.dtype in kinds and t.nelem == 1, "input {}".format(i))
    node.require(out.dtype in ("float32", "float64"), "dtype " + out.dtype)
    weights = _MelWeights([t.data for t in node.inputs], out.data, node.name)
    if len(node.params):
        lines, bins = node.dim(_DIMS), node.dim(_DIMS + 1)
        node.require(lines.bound * bins.bound <= out.nelem, "output size")
        weights.dims = lines, bins
    else:
        node.require(len(out.shape) == 2, "rank")
        weights.shape = out.shape
    return 1, weights.step


class _MelWeights:
    dims = None

    def __init__(self, operands, out, name):
        self.operands, self.out, self.name = operands, out, name

    def _require(self, condition, what):
        if not condition:
            raise InputError("{}: {}".format(self.name, what))

    def step(self, lo, hi):
        bins, length, rate, low, high = [x[0] for x in self.operands]
        self._require(0 <= bins < _MOST and 0 < length < _MOST and 0 < rate < _MOST, "sizes")
        self._require(-700 < low < _MOST and -700 < high < _MOST, "edges")
        lines = length // 2 + 1
        if self.dims:
            self.dims[0].set(lines)
            self.dims[1].set(bins)
        else:
            self._require((lines, bins) == tuple(self.shape), "sizes other than the output's")
        self.bins, self.lines = bins, lines
        for i in range(lines * bins):
            self.out[i] = 0.0
        first = _MEL * math.log(1 + low / 700)
        self.first, self.distance = first, (_MEL * math.log(1 + high / 700) - first) / (bins + 2)
        self.scale = (length + 1) * 700.0
        self.rate = rate
        for i in range(bins):
            self._triangle(i)

    def _line(self, i):
        """The spectrum's line at edge i."""
        frequency = math.exp((self.first + i * self.distance) / _MEL) - 1
        return int(self.scale * frequency // self.rate)

    def _triangle(self, i):
        lower, centre, higher = self._line(i), self._line(i + 1), self._line(i + 2)
        self._require(0 <= lower <= centre < self.lines, "edges beyond the spectrum")
        self._require(centre <= higher <= self.lines, "edges beyond the spectrum")
        for j in range(lower, centre + 1):
            self.out[j * self.bins + i] = (j - lower) / (centre - lower) if centre > lower else 1
        for j in range(centre, higher):
            self.out[j * self.bins + i] = (higher - j) / (higher - centre)
