"""mel_weights: triangular filters on the mel scale, mel = 2595 * log10(1 + f / 700).

    out[j, i] = (j - lower) / (centre - lower)        lower <= j <= centre, 1 if they are equal
                (higher - j) / (higher - centre)      centre <= j < higher

lower, centre, higher: edges i, i + 1, i + 2 of bins + 2 edges that are equidistant in mel, each as
the spectral line of its frequency. Serves MelWeightMatrix (all opsets).

    bins, length, rate   int32 or int64 (1): mel bins, length of the transform, sample rate in Hz
    low, high            float32 or float64 (1): the band, in Hz
    out                  float32 or float64 (length // 2 + 1, bins)
Raises ModelError, and InputError for a size that out does not have or edges beyond the spectrum. A
step allocates boxed floats.
"""

from .. import forms
from ..blocks import block

# params
_DIMS = const(0)  # [*] dim; the two dims of out, or none if they are constant

CALLS = True


def prepare(node, calls):
    node.require(len(node.params) in (0, 2), "params")
    node.expect(5, 1, len(node.params))
    out = node.outputs[0]
    for i, t in enumerate(node.inputs):
        kinds = ("int32", "int64") if i < 3 else ("float32", "float64")
        node.require(t.dtype in kinds and t.nelem == 1, "input {}".format(i))
    node.require(out.dtype in ("float32", "float64"), "dtype " + out.dtype)
    if len(node.params):
        lines, bins = node.dim(_DIMS), node.dim(_DIMS + 1)
        node.require(lines.bound * bins.bound <= out.nelem, "output size")
        operands = [t.data for t in node.inputs]
        return 1, _Sized(lines, bins, operands, node.name.encode(), out.data).step
    node.require(len(out.shape) == 2, "rank")
    p = block("series.mel_weights", fixed_lines=out.shape[0], fixed_bins=out.shape[1])
    loop = forms.get("series").mel_weights
    operands = calls.hold([calls.place(t) for t in node.inputs])
    calls.call(loop, operands, calls.hold(node.name.encode()), calls.place(out), p)


class _Sized:
    """The loop, preceded by the size of its output if that is known only at run time."""

    def __init__(self, lines, bins, operands, name, out):
        self.dims, self.operands, self.name, self.out = (lines, bins), operands, name, out
        self.loop = forms.get("series").mel_weights
        self.p = block("series.mel_weights", fixed_lines=-1, fixed_bins=-1)

    def step(self, lo, hi):
        self.dims[0].set(self.operands[1][0] // 2 + 1)
        self.dims[1].set(self.operands[0][0])
        self.loop(self.operands, self.name, self.out, self.p)
