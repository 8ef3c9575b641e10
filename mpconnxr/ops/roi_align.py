"""roi_align: bins of a region, each the mean or maximum of samples within it.

A region (x0, y0, x1, y1) times scale, less 0.5 if half_pixel, is cut into oh x ow bins, and each
of these is sampled at the middles of a grid of cells: sampling_ratio a side, or as many as make
cells of one item at most. A sample beyond the border by more than one item is 0. `max` takes the
largest of a sample's four weighted neighbours, as ONNX defines it. Serves RoiAlign (all opsets).

    x      float32 (N, C, H, W);  regions  float32 (R, 4);  batch  int64 (R)
    out    float32 (R, C, oh, ow)
    params N, C, H, W, R, oh, ow, sampling_ratio (0: by size), max (0 or 1), half_pixel (0 or 1),
           bits of the scale as float32
Raises ModelError; InputError when it runs, for a batch index out of range or a bin of more
than 1024 cells a side. A step allocates only boxed floats and integers.
"""

import struct

from .. import forms
from ..errors import InputError
from ..parameters import block

_MAX_RATIO = 32
_MAX_CELLS = 1024  # a side of a bin


def prepare(node):
    node.expect(3, 1, 11)
    x, regions, batch = node.inputs
    out = node.outputs[0]
    node.expect_dtype("float32", x, regions, out)
    node.expect_dtype("int64", batch)
    n, c, h, w, r, oh, ow, ratio, largest, half = node.extents(0, 10)
    node.require(largest < 2 and half < 2 and ratio <= _MAX_RATIO, "flags or sampling_ratio")
    node.require(n * c * h * w == x.nelem and r * c * oh * ow == out.nelem, "sizes")
    node.require(r * 4 == regions.nelem and r == batch.nelem, "regions or batch indices")
    if out.nelem == 0:
        return 0, None
    node.require(x.nelem > 0, "samples of nothing")
    scale = struct.unpack("<f", struct.pack("<i", node.params[10]))[0]
    step = _RoiAlign(
        node.name, (n, ratio, scale, half), block(0, 0, c, h, w, oh, ow, 0, 0, largest)
    )
    step.bind(x.data, (regions.data, batch.data), out.data)
    return r, step.step


class _RoiAlign:
    """The extent is regions."""

    def __init__(self, name, options, p):
        self.name, self.p = name, p
        self.n, self.ratio, self.scale, self.half = options
        self.at = [0.0] * 4  # corner y, x and size of a bin: y, x
        self.loop = forms.get("roi").align

    def bind(self, x, w, out):
        self.x, self.regions, self.out = x, w[0], out
        self.batch = w[1]

    def step(self, lo, hi):
        p = self.p
        while lo < hi:
            batch = self.batch[lo]
            if not 0 <= batch < self.n:
                raise InputError("{}: batch index {}".format(self.name, batch))
            p[0] = batch * p[2] * p[3] * p[4]
            p[1] = lo * p[2] * p[5] * p[6]
            p[7] = self._side(lo * 4 + 1, 0, p[5])
            p[8] = self._side(lo * 4, 1, p[6])
            self.loop(self.x, self.at, self.out, p)
            lo += 1

    def _side(self, i, axis, bins):
        """Sets corner and bin size along an axis (y, x); returns the cells a bin."""
        shift = 0.5 if self.half else 0.0
        start = self.regions[i] * self.scale - shift
        size = self.regions[i + 2] * self.scale - shift - start
        if not self.half and size < 1.0:
            size = 1.0
        if not (-1e6 < start < 1e6 and -1e6 < size < 1e6):
            raise InputError(self.name + ": a region is out of range")
        self.at[axis] = start
        self.at[2 + axis] = size / bins
        cells = self.ratio or int(-(-(size / bins) // 1))
        if cells > _MAX_CELLS:
            raise InputError(self.name + ": a region is too large")
        return max(cells, 0)
