"""max_roi_pool: the largest item of each bin of a region.

A region (image, x0, y0, x1, y1), corners times scale and rounded, both included, is cut into
oh x ow bins that may overlap by an item. An empty bin gives 0. Serves MaxRoiPool (all opsets).

    x      float32 (N, C, H, W);  regions  float32 (R, 5);  out  float32 (R, C, oh, ow)
    params N, C, H, W, R, oh, ow, bits of the scale as float32
Raises ModelError; InputError when it runs, for an image that is not there or a corner that is no
number. A step allocates only boxed floats.
"""

import struct

from .. import forms
from ..errors import InputError
from ..parameters import block

_FAR = 1e6  # corners are cut to the image later


def prepare(node):
    node.expect(2, 1, 8)
    x, regions, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, regions, out)
    n, c, h, w, r, oh, ow = node.extents(0, 7)
    node.require(n * c * h * w == x.nelem and r * c * oh * ow == out.nelem, "sizes")
    node.require(r * 5 == regions.nelem, "regions")
    if out.nelem == 0:
        return 0, None
    scale = struct.unpack("<f", struct.pack("<i", node.params[7]))[0]
    step = _MaxRoiPool(node.name, n, scale, block(0, 0, c, h, w, oh, ow))
    step.x, step.regions, step.out = x.data, regions.data, out.data
    return r, step.step


class _MaxRoiPool:
    """The extent is regions."""

    def __init__(self, name, n, scale, p):
        self.name, self.n, self.scale, self.p = name, n, scale, p
        self.box = block(0, 0, 0, 0)
        self.loop = forms.get("max_roi").max_bins

    def step(self, lo, hi):
        p, box = self.p, self.box
        while lo < hi:
            image = self.regions[lo * 5]
            if not (0 <= image < self.n and image == image // 1):
                raise InputError("{}: image {} of a region".format(self.name, image))
            p[0] = int(image) * p[2] * p[3] * p[4]
            p[1] = lo * p[2] * p[5] * p[6]
            k = 0
            while k < 4:
                box[k] = self._corner(lo * 5 + 1 + k)
                k += 1
            self.loop(self.x, box, self.out, p)
            lo += 1

    def _corner(self, i):
        v = self.regions[i] * self.scale
        if not -_FAR < v < _FAR:
            raise InputError(self.name + ": a corner is out of range")
        return int(v + 0.5) if v >= 0 else -int(0.5 - v)
