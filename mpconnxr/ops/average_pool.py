"""average_pool: mean or p-norm of each window, over up to three spatial dims.

    out[b, c, z, y, x] = (sum over the window's items v of v) / count              power 0
                       = (sum over the window's items v of abs(v) ** power) ** (1 / power)

where the items of a window are x[b, c, z*sz - pz + kz*dz, y*sy - py + ky*dy, x*sx - px + kx*dx]
that lie inside x, and count is how many taps lie inside x, or inside x and its padding. Serves
AveragePool and LpPool (all opsets). A window of no items gives 0 / 0, NaN.

    x    float32 or float64 (planes, D, H, W);  out  same dtype (planes, od, oh, ow)
    params  planes, D, H, W, kd, kh, kw, od, oh, ow, strides z, y, x, dilations z, y, x,
            pads at the begin z, y, x, pads at the end z, y, x, count padding (0 or 1), power
Raises ModelError. A step allocates only what float arithmetic does (boxed floats).
"""

from .. import forms
from ..parameters import BIAS, block


def prepare(node):
    node.expect(1, 1, 24)
    x, out = node.inputs[0], node.outputs[0]
    node.over(out, x, 0)
    node.expect_dtype(x.dtype, out)
    node.require(x.dtype in ("float32", "float64"), "dtype " + x.dtype)
    e, pads = node.extents(0, 16), node.extents(16, 6)
    counted, power = node.extents(22, 2)
    node.require(e[0] * e[1] * e[2] * e[3] == x.nelem, "input size")
    node.require(e[0] * e[7] * e[8] * e[9] == out.nelem, "output size")
    node.require(min(e[13:16]) > 0, "dilations")
    for i in range(3):
        far = e[7 + i] * e[10 + i] + e[4 + i] * e[13 + i] + pads[i] + pads[3 + i]
        node.require(far < BIAS, "strides, dilations or pads")
    if out.nelem == 0:
        return 0, None
    step = _AveragePool(e, pads, counted, power)
    step.x, step.out = x.data, out.data
    return e[0] * e[7] * e[8], step.step


class _AveragePool:
    """The extent is output rows: planes x od x oh."""

    def __init__(self, e, pads, counted, power):
        self.dims, self.kernel, self.out_dims = e[1:4], e[4:7], e[7:10]
        self.strides, self.dilations = e[10:13], e[13:16]
        self.pads, self.padding = pads[:3], pads if counted else [0] * 6
        _, h, w = self.dims
        self.item_strides = [h * w, w]
        p = [0, 0, 0, e[6], e[13] * h * w, e[14] * w, e[15], w, e[12], pads[2]]
        self.p = block(*p + [self.padding[2], self.padding[5], power, 0, e[9], 0])
        self.loop = forms.get("average").average_row

    def _clip(self, i, at):
        """For dim i (z or y) and an output position: p's first item, taps and count."""
        p, dilation, kernel = self.p, self.dilations[i], self.kernel[i]
        corner = at * self.strides[i] - self.pads[i]
        begin = -(corner // dilation) if corner < 0 else 0
        p[1 + i] = max(0, min(kernel, -((corner - self.dims[i]) // dilation)) - begin)
        p[0] += (corner + begin * dilation) * self.item_strides[i]
        corner += self.padding[i]
        begin = -(corner // dilation) if corner < 0 else 0
        end = self.dims[i] + self.padding[i] + self.padding[3 + i]
        p[13] *= max(0, min(kernel, -((corner - end) // dilation)) - begin)

    def step(self, lo, hi):
        od, oh, ow = self.out_dims
        p = self.p
        while lo < hi:
            p[0] = lo // (od * oh) * self.dims[0] * self.item_strides[0]
            p[13] = 1
            self._clip(0, lo // oh % od)
            self._clip(1, lo % oh)
            p[15] = lo * ow
            self.loop(self.x, self.x, self.out, p)
            lo += 1
