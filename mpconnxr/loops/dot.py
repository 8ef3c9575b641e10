"""Dot products, the inner loops of gemm and conv. Plain form.

x holds a row of `columns` floats. w holds rows of them, each followed by a bias if has_bias. out
gets sum(x * w) + bias of each row.

Sums run in blocks, so that single floats lose little: the error grows as with columns / _BLOCK +
_BLOCK terms, not as with all of them.
"""

# Parameters of dots_f32, dots_int
_X_START = 0  # [elements] 0..
_COLUMNS = 1  # of w [elements] 0..
_OUT_START = 2  # [elements] 0..
_OUT_STRIDE = 3  # from element to element [elements] 0..
_HAS_BIAS = 4  # [flag] 0, 1
_W_START = 5  # [elements] 0..
_ROWS = 6  # of w [rows] 0..

# Parameters of dots_int
_SIGNED_BITS = const(7)  # bits of a signed element; 0: unsigned [bits] 0..64
_BITS_PER_ELEMENT = const(8)  # [bits] 1..64

_BLOCK = 32


def dots_f32(x, w, out, p):
    """Compute dot products of floats.

    Access:
        reads x[x_start : x_start + columns] if rows
        reads w[w_start : w_start + rows * (columns + has_bias)]
        writes out[out_start : out_start + (rows - 1) * out_stride + 1] if rows
    """
    x_start, columns, at, out_stride, bias, j, rows = (
        p[_X_START],
        p[_COLUMNS],
        p[_OUT_START],
        p[_OUT_STRIDE],
        p[_HAS_BIAS],
        p[_W_START],
        p[_ROWS],
    )
    x_end = x_start + columns
    while rows:
        total = w[j + columns] if bias else 0.0
        i = x_start
        while i < x_end:
            end = i + _BLOCK
            if end > x_end:
                end = x_end
            part = 0.0
            while i < end:
                part += x[i] * w[j]
                i += 1
                j += 1
            total += part
        j += bias
        out[at] = total
        at += out_stride
        rows -= 1


def dots_int(x, w, out, p):
    """Compute dot products of integers, exact, wrapping around.

    Access: as dots_f32
    """
    half, mask = 1 << p[_SIGNED_BITS] >> 1, (1 << p[_BITS_PER_ELEMENT]) - 1
    columns, at, bias, j, rows = p[_COLUMNS], p[_OUT_START], p[_HAS_BIAS], p[_W_START], p[_ROWS]
    while rows:
        total = w[j + columns] if bias else 0
        i = p[_X_START]
        end = i + columns
        while i < end:
            total += x[i] * w[j]
            i += 1
            j += 1
        j += bias
        out[at] = (total + half & mask) - half
        at += p[_OUT_STRIDE]
        rows -= 1
