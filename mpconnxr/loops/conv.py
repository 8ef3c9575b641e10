"""im2col of one output position. Written once, in the common subset of Python and viper.

x    float32 bits, one image (C, D, H, W), group's channels from p[0]
out  float32 bits, the patch (C per group, kd, kh, kw), zeros where it reaches into the padding
p    first item of x, C per group, D, H, W, kd, kh, kw, dilations d, h, w,
     corner of the patch z, y, x (BIAS + items, may lie outside)

Made from tools/loops/common/conv.py by `make loops`:
change that file, not this one.
"""

import micropython

COMMON = True


@micropython.viper
def im2col32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1] * p[2] * p[3] * p[4]]
        writes out[0 : p[1] * p[5] * p[6] * p[7]]
    """
    bias = 1 << 29
    n = 0
    height = p[3]
    width = p[4]
    kw = p[7]
    step = p[10]
    c = 0
    while c < p[1]:
        kz = 0
        while kz < p[5]:
            z = p[11] + kz * p[8]
            ky = 0
            while ky < p[6]:
                y = p[12] + ky * p[9]
                k = n + kw
                if z >= bias and z < bias + p[2] and y >= bias and y < bias + height:
                    row = p[0] + ((c * p[2] + z - bias) * height + y - bias) * width - bias
                    xx = p[13]
                    while n < k:
                        if xx >= bias and xx < bias + width:
                            out[n] = x[row + xx]
                        else:
                            out[n] = 0
                        xx += step
                        n += 1
                else:
                    while n < k:
                        out[n] = 0
                        n += 1
                ky += 1
            kz += 1
        c += 1
