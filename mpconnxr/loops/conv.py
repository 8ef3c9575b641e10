"""im2col of one output position. Written once, in the common subset of Python and viper.

x    float32 bits, one image (C, D, H, W), group's channels from p[0]
out  float32 bits, the patch (C per group, kd, kh, kw), zeros where it reaches into the padding
p    first item of x, C per group, D, H, W, kd, kh, kw, dilations d, h, w,
     corner of the patch z, y, x (BIAS + items, may lie outside)
"""


def im2col32(x: ptr32, w: ptr32, out: ptr32, p: ptr32):
    """
    Access:
        reads x[p[0] : p[0] + p[1] * p[2] * p[3] * p[4]]
        writes out[0 : p[1] * p[5] * p[6] * p[7]]
    """
    bias, n, height = 1 << 29, 0, p[3]
    width, kw, step = p[4], p[7], p[10]
    for c in range(p[1]):
        for kz in range(p[5]):
            z = p[11] + kz * p[8]
            for ky in range(p[6]):
                y, k = p[12] + ky * p[9], n + kw
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
