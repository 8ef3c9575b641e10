"""Matrix products of float32 in the FPU: see ops/_block_vfp_gemm. In viper.

Weights are mantissas of loops/block; x and sums are floats. Assembler provides consts (see
loops/vfp/fpu_strips) and products (see loops/vfp/fpu_gemm), whose blocks are parts of the block of
rows.
"""

import micropython

# Parameters of rows
_CONSTS_W_START = const(0)  # first channel [channels] 0..
_CONSTS_CHANNELS = const(1)  # [channels] 1..
_CONSTS_OUT_START = const(2)  # in the block of products [words] 0..
_CONSTS_HAS_BIAS = const(3)  # [flag] 0..1
_X_START = const(4)  # [bytes] 0..
_ROWS = const(5)  # [rows] 1..
_X_ROW_STRIDE = const(6)  # [bytes] 4..
_COLUMNS = const(7)  # of a row of x and of weights [elements] 1..
_CHANNELS = const(8)  # [channels] 1..
_W_START = const(9)  # [bytes] 0..
_CONSTS_START = const(10)  # in this part of the block [bytes] 0..
_OUT_START = const(11)  # [bytes] 0..
_OUT_ROW_STRIDE = const(12)  # [bytes] 4..
_CLIP = const(13)  # 0 none, 1 relu, 2 to low and high [code] 0..2
_LOW = const(14)  # [float bits]
_HIGH = const(15)  # [float bits]
_CONSTS = const(16)  # scale and bias of each channel [words x n]


@micropython.viper
def rows(p, w):
    """Multiply rows of x by rows of weights, by calls of consts and products.

    w lists the parts of p for consts and products; x, weights, out; biases, exponents; loops
    consts, products.

    Access:
        requires len(w[1]) >= consts_out_start + 2 * consts_channels
        requires 4 * consts_out_start == consts_start and consts_channels == channels
        x_end = x_start + (rows - 1) * x_row_stride + 4 * columns
        out_end = out_start + (rows - 1) * out_row_stride + 4 * channels
        end = consts_w_start + consts_channels
        reads w[2] as uint8[x_start : x_end]
        reads w[3] as uint8[w_start : w_start + 4 * channels * columns]
        writes w[4] as uint8[out_start : out_end]
        reads w[5] as int32[consts_w_start : end] if consts_has_bias
        reads w[6] as uint8[consts_w_start : end]
    """
    products_p = w[1]
    w[7](w[5], w[6], products_p, w[0])  # weights may differ from those of the call before
    w[8](w[2], w[3], w[4], products_p)
