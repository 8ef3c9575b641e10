"""Quantization of items. Plain form.

x    items;  out  items in C order;  w  (scales, zero points)
p    first item, row stride, stride of x; the same of the scales; first item of out; rows;
     items a row; 1 where there are zero points; then see quantize
"""

from array import array

INF = float("inf")

_FAR = 1e6  # beyond every range, zero point included


def quantize(x, w, out, p):
    """p goes on with least, greatest, and 1 for scales of float64. The quotient is rounded to the
    scales' dtype also where Python's floats are wider.

    Access: as dequantize
    """
    scales, low, high = w[0], p[10], p[11]
    cell = array("d" if p[12] else "f", [0.0])
    k, n = p[6], p[8]
    row = 0
    while row < p[7]:
        i = p[0] + row * p[1]
        j = p[3] + row * p[4]
        end = k + n
        while k < end:
            s = scales[j]
            cell[0] = x[i] / s if s else x[i] * INF
            v = cell[0]
            if v > _FAR:
                v = _FAR
            elif not v > -_FAR:
                v = -_FAR if v == v else 0.0
            v = round(v)
            if p[9]:
                v += w[1][j]
            out[k] = low if v < low else high if v > high else v
            i += p[2]
            j += p[5]
            k += 1
        row += 1


def dequantize(x, w, out, p):
    """
    Access:
        rows, n = p[7:9]
        low, high = p[3], p[3] + (rows - 1) * p[4] + (n - 1) * p[5] + 1
        reads w[0 : 2]
        reads x[p[0] : p[0] + (rows - 1) * p[1] + (n - 1) * p[2] + 1] if rows and n
        reads w[0][low : high] if rows and n
        reads w[1][low : high] if rows and n and p[9]
        writes out[p[6] : p[6] + rows * n]
    """
    scales, zeros, has_zeros = w[0], w[1], p[9]
    k, n = p[6], p[8]
    row = 0
    while row < p[7]:
        i = p[0] + row * p[1]
        j = p[3] + row * p[4]
        end = k + n
        while k < end:
            out[k] = (x[i] - zeros[j] if has_zeros else x[i]) * scales[j]
            i += p[2]
            j += p[5]
            k += 1
        row += 1
