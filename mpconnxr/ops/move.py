"""move: copies items from one strided layout to another.

    out[out_first + sum(i_d * out_stride_d)] = x[x_first + sum(i_d * x_stride_d)]

for all i_d in 0 .. dims_d - 1. Serves Transpose, Slice, Concat, Split, Pad, Expand, Tile, and
every other operator that moves elements without changing them (all opsets, all dtypes); what was
not written keeps its contents.

    x, out   buffers of any dtype, seen as items of 1 or 4 bytes (8-byte dtypes are moved as pairs
             of 4-byte items, 2-byte ones as pairs of bytes: the converter adds that dim)
    params   item size (1 or 4), rank, then rank times each: dims, x strides, out strides (signed,
             in items), then x_first, out_first
Raises ModelError where a stride would leave a buffer. A step allocates nothing.
"""

from .. import forms
from ..parameters import BIAS, block

STREAMS = (0,)
_CODES = {1: "B", 4: "i"}
_LOOP_DIMS = 3  # the innermost dims, done by one call of the loop


def prepare(node):
    node.require(len(node.params) >= 4, "params")
    size, rank = node.params[0], node.params[1]
    node.require(size in _CODES and 0 <= rank <= 32, "item size or rank")
    node.expect(1, 1, 4 + 3 * rank)
    dims = node.extents(2, rank)
    x_strides, out_strides = node.signed(2 + rank, rank), node.signed(2 + 2 * rank, rank)
    x_first, out_first = node.signed(2 + 3 * rank, 2)
    x, out = node.inputs[0].view(_CODES[size]), node.outputs[0].view(_CODES[size])
    if min(dims + [1]) == 0:
        return 0, None
    _check(node, dims, x_strides, x_first, len(x))
    _check(node, dims, out_strides, out_first, len(out))
    node.over(node.outputs[0], node.inputs[0], 0)
    n_items = 1
    for d in dims:
        n_items *= d
    node.require(n_items <= len(out), "moves more items than the output has")  # or for ever
    step = _Move(dims, x_strides, out_strides, x_first, out_first)
    loops = forms.get("move")
    step.bind(loops.copy8 if size == 1 else loops.copy32, x, out)
    return step.n, step.step


def _check(node, dims, strides, first, nelem):
    low = high = first
    for i in range(len(dims)):
        reach = (dims[i] - 1) * strides[i]
        low, high = low + min(reach, 0), high + max(reach, 0)
    node.require(0 <= low and high < nelem, "moves beyond a buffer")


class _Move:
    """Outer dims counted here, the three innermost ones in the loop."""

    def __init__(self, dims, x_strides, out_strides, x_first, out_first):
        ones = _LOOP_DIMS - len(dims)
        if ones > 0:
            dims, zeros = [1] * ones + dims, [0] * ones
            x_strides, out_strides = zeros + x_strides, zeros + out_strides
        inner = len(dims) - _LOOP_DIMS
        self.outer = dims[:inner]
        self.x_strides, self.out_strides = x_strides[:inner], out_strides[:inner]
        self.x_first, self.out_first = x_first, out_first
        self.n0 = dims[inner]
        self.n = self.n0
        for d in self.outer:
            self.n *= d
        strides = [s + BIAS for s in x_strides[inner:] + out_strides[inner:]]
        self.p = block(0, 0, dims[inner + 1], dims[inner + 2], *strides + [0, 0])

    def bind(self, loop, x, out):
        self.loop, self.x, self.out = loop, x, out

    def _locate(self, outer):
        """Sets the first items for one combination of the outer dims."""
        a, b = self.x_first, self.out_first
        k = len(self.outer) - 1
        while k >= 0:
            i = outer % self.outer[k]
            outer //= self.outer[k]
            a += i * self.x_strides[k]
            b += i * self.out_strides[k]
            k -= 1
        self.p[10] = a + BIAS
        self.p[11] = b + BIAS

    def step(self, lo, hi):
        p = self.p  # few locals: a frame of more than 11 words would come from the heap
        while lo < hi:
            outer = lo // self.n0
            p[0] = lo - outer * self.n0
            p[1] = min(self.n0, hi - outer * self.n0)
            self._locate(outer)
            self.loop(self.x, self.x, self.out, p)
            lo = outer * self.n0 + p[1]
