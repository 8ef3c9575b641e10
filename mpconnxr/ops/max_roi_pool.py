"""max_roi_pool: largest element of each bin of a region.

A region (image, x0, y0, x1, y1), corners times scale, rounded and inclusive, is divided into oh x
ow bins, which may overlap by an element. An empty bin gives 0. Serves MaxRoiPool (all opsets).

    x      float32 (N, C, H, W);  regions  float32 (R, 5);  out  float32 (R, C, oh, ow)
Raises ModelError, and InputError at run time for an image that does not exist or a corner that is
inf or NaN. A step allocates only boxed floats.
"""

import struct

from .. import forms
from ..blocks import block

# params
_N = const(0)
_C = const(1)
_H = const(2)
_W = const(3)
_REGIONS = const(4)
_OH = const(5)
_OW = const(6)
_SCALE = const(7)  # float
_N_PARAMS = const(8)

CALLS = True


def prepare(node, calls):
    node.expect(2, 1, _N_PARAMS)
    x, regions, out = node.inputs[0], node.inputs[1], node.outputs[0]
    node.expect_dtype("float32", x, regions, out)
    n, c, h, w, r, oh, ow = node.extents(0, _SCALE)
    node.require(n * c * h * w == x.nelem and r * c * oh * ow == out.nelem, "sizes")
    node.require(r * 5 == regions.nelem, "regions")
    if out.nelem == 0:
        return
    scale = calls.constants("f", struct.pack("<i", node.params[_SCALE]))
    operands = calls.hold([calls.place(regions), scale, node.name.encode()])
    loop, x, out = forms.get("max_roi").regions, calls.place(x), calls.place(out)
    for start, end in calls.parts(r, c * oh * ow):
        p = block(
            "max_roi",
            start=start,
            end=end,
            images=n,
            channels=c,
            rows=h,
            columns=w,
            out_rows=oh,
            out_columns=ow,
        )
        calls.call(loop, x, operands, out, p)
