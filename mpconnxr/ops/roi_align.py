"""roi_align: mean or maximum of samples in each bin of a region.

A region (x0, y0, x1, y1) times scale, less 0.5 if half_pixel, is divided into oh x ow bins. Each
bin is sampled at the centres of a grid of cells: sampling_ratio per side, or as many as make cells
of at most one element. A sample more than one element beyond the edge is 0. `max` takes the
largest of a sample's four weighted neighbours, as ONNX defines it. Serves RoiAlign (all opsets).

    x      float32 (N, C, H, W);  regions  float32 (R, 4);  batch  int64 (R)
    out    float32 (R, C, oh, ow)
Raises ModelError, and InputError at run time for a batch index out of range or a bin of more than
1024 cells per side. A step allocates only boxed floats and integers.
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
_SAMPLING_RATIO = const(7)  # 0: by the size of the bin
_MAX = const(8)  # flag
_HALF_PIXEL = const(9)  # flag
_SCALE = const(10)  # float
_N_PARAMS = const(11)

CALLS = True

_MAX_RATIO = 32


def prepare(node, calls):
    node.expect(3, 1, _N_PARAMS)
    x, regions, batch = node.inputs
    out = node.outputs[0]
    node.expect_dtype("float32", x, regions, out)
    node.expect_dtype("int64", batch)
    n, c, h, w, r, oh, ow, ratio, largest, half = node.extents(0, _SCALE)
    node.require(largest < 2 and half < 2 and ratio <= _MAX_RATIO, "flags or sampling_ratio")
    node.require(n * c * h * w == x.nelem and r * c * oh * ow == out.nelem, "sizes")
    node.require(r * 4 == regions.nelem and r == batch.nelem, "regions or batch indices")
    if out.nelem == 0:
        return
    node.require(x.nelem > 0, "samples of nothing")
    scale = calls.constants("f", struct.pack("<i", node.params[_SCALE]))
    operands = [calls.place(regions), calls.place(batch), scale, node.name.encode()]
    operands = calls.hold(operands)
    loop, x, out = forms.get("roi").regions, calls.place(x), calls.place(out)
    for start, end in calls.parts(r, c * oh * ow):
        p = block(
            "roi",
            start=start,
            end=end,
            channels=c,
            rows=h,
            columns=w,
            out_rows=oh,
            out_columns=ow,
            cell_rows=0,
            cell_columns=0,
            is_maximum=largest,
            images=n,
            cells=ratio,
            is_half_pixel=half,
        )
        calls.call(loop, x, operands, out, p)
