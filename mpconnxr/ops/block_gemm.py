"""block_gemm: batched product of rows of A and rows of W, in block floating point.

    out[b, m, n] = clip(sum_k(a[b, m, k] * w[b, n, k]) + bias[b, n])

Serves Gemm and MatMul (all opsets; the converter lays A and W out so that k is contiguous, and
folds alpha, beta and the transposes). The elements of a row share an exponent; sums are exact and
rounded once (see loops/block). A row of A with inf or NaN is computed with floats.

    a    float32 (A batches, M, K)
    w    constant: mantissas (W batches, N, K), then exponents and optional biases of (W batches,
         N): see _block
    w    else: float32 (W batches, N, K + has_bias); the bias lies behind its row. A batch of W
         with inf or NaN is computed with floats
    out  float32 (n0, n1, M, N)
    scratch  int32: see product_places in _block
Raises ModelError. A step allocates nothing unless a value is inf or NaN.
"""

from .. import forms
from ..blocks import block
from ..loops.block_products import (
    _ALIGN_W_STRIDE,
    _ALIGN_X_START,
    _ALIGN_X_STRIDE,
    _CHANNELS,
    _COLUMNS,
    _DOTS_X_START,
    _EXPONENT,
    _EXPONENT_OFFSET,
    _EXPONENT_START,
    _FINISH_X_START,
    _INNER_BATCHES,
    _MANTISSAS_X_START,
    _PEAK_X_START,
    _ROW_END,
    _ROW_START,
    _W_ROW_STRIDE,
    _W_START,
    _X_OUTER_STRIDE,
)
from ..loops.block_rows import (
    _FLAG_EXPONENT,
    _FLAG_X_START,
    _FLOATS_INNER_STRIDE,
    _FLOATS_OUTER_STRIDE,
    _ROWS_X_START,
)
from ..parameters import block as words
from . import _block as blocks

# params
_BATCHES = const(0)  # [2] batches of out; 1 where there are none
_M = const(2)
_N = const(3)
_K = const(4)
_A_STEPS = const(5)  # [2] stride of a batch in A [matrices]
_W_STEPS = const(7)  # [2] stride of a batch in W [matrices]; 0: broadcast
_LIMITS = const(9)  # [low, high] float: limits of the result
_HAS_BIAS = const(11)  # flag; only for weights that are no constants
_N_PARAMS = const(12)

CALLS = True
STREAMS = (1, 2, 3)
_FEW_ROWS = 4  # of A; with fewer rows an FPU is slower
_FLAG = 1  # word of scratch: set if weights are not finite


def prepare(node, calls):
    known = len(node.inputs) > 2
    node.expect(min(max(len(node.inputs), 2), 4), 1, _N_PARAMS, 1)
    a, w, out, scratch = node.inputs[0], node.inputs[1], node.outputs[0], node.scratch[0]
    node.expect_dtype("float32", a, out)
    node.expect_dtype("int32", scratch)
    if not known:
        node.expect_dtype("float32", w)
    n0, n1, m, n, k, a0, a1, w0, w1 = node.extents(0, _LIMITS)
    [has_bias] = node.extents(_HAS_BIAS, 1)
    node.require(n0 * n1 * m * n == out.nelem and k <= blocks.MAX_K, "output size or K")
    if out.nelem == 0:
        return
    a_batches = (n0 - 1) * a0 + (n1 - 1) * a1 + 1
    w_batches = (n0 - 1) * w0 + (n1 - 1) * w1 + 1
    node.require(a_batches * m * k <= a.nelem, "A is too small")
    node.require(has_bias < 2, "has_bias")
    limits = blocks.limits(node, _LIMITS)
    if known:
        constants = node.inputs[1:]
        in_floats = w.dtype == "int32" and m >= _FEW_ROWS
        if in_floats and calls.fpu("fpu_gemm", "block"):
            from ._block_vfp_gemm import Rows

            rows = Rows(node, calls, a, constants, out, w_batches * n, n, k, limits)
            rows.emit(calls, m, (n0, n1, a0, a1, w0, w1))
            return
        weights = blocks.constants(node, calls, constants, w_batches * n)
    else:
        node.require(w_batches * n * (k + has_bias) <= w.nelem, "W is too small")
        weights = calls.place(scratch), calls.place(scratch, "B"), None
    product = (Product if known else _Pair)(calls, a, weights, out, scratch)
    product.set_kind(w, k)
    product.set_shape(m, n, k, limits)
    if known:
        product.set_weights_of(node, w, w_batches * n, k)
    else:
        product.set_weights(w, has_bias)
    node.require(product.nelem <= scratch.nelem, "scratch size")
    product.bind(n1, a0, a1, w0, w1)
    for row, row_end in calls.parts(n0 * n1 * m, n * k // blocks.MACS):
        p = words(*product.p)
        p[_ROW_START], p[_ROW_END] = row, row_end
        calls.drive(product.products, p, product.needs, (_ROW_START, _ROW_END))


class Product(blocks.Block):
    """Rows of A times chunks of W's rows; the driver's loop is over batches x rows of A.

    Attributes:
        p: parameters of loops/block_products.
        special: name of the rare loop in loops/block_special.
    """

    special = "product"

    def set_shape(self, m, n, k, limits):
        chunk, sums, row, self.nelem = blocks.product_places(n, k, self.words)
        is_low_negative, low, is_high_negative, high = limits
        self.p = block(
            "block_products",
            row_start=0,
            row_end=0,
            rows=m,
            columns=k,
            channels=n,
            channels_at_once=chunk,
            inner_batches=1,
            x_outer_stride=0,
            x_inner_stride=0,
            w_outer_stride=0,
            w_inner_stride=0,
            w_start=0,
            w_row_stride=0,
            bias_start=0,
            exponent_start=0,
            exponent_offset=0,
            exponent=0,
            x_start=0,
            w_row=0,
            out_start=0,
            peak_x_start=0,
            peak_elements=k,
            peak_out_start=_EXPONENT,
            mantissas_x_start=0,
            mantissas_channels=1,
            mantissas_depth=1,
            mantissas_rows=1,
            mantissas_columns=k,
            mantissas_kernel_depth=1,
            mantissas_kernel_rows=1,
            mantissas_depth_dilation=1,
            mantissas_row_dilation=1,
            mantissas_corner_depth=0,
            mantissas_corner_row=0,
            mantissas_corner_column=0,
            mantissas_out_rows=1,
            mantissas_row_stride=1,
            mantissas_positions=1,
            mantissas_column_stride=0,
            mantissas_kernel_columns=k,
            mantissas_column_dilation=1,
            mantissas_out_row_stride=k,
            mantissas_out_start=row,
            mantissas_exponent=1,
            align_x_start=0,
            align_x_stride=self.has_bias,
            align_w_start=0,
            align_w_stride=1,
            align_channels=0,
            align_out_start=blocks.INITS,
            align_exponent=0,
            dots_x_start=row,
            dots_rows=1,
            dots_x_row_stride=k,
            dots_columns=k,
            dots_w_start=0,
            dots_channels=0,
            dots_out_start=sums,
            dots_bits=0,
            finish_x_start=sums,
            finish_positions=1,
            finish_channels=0,
            finish_w_start=blocks.INITS,
            finish_out_start=0,
            finish_out_position_stride=0,
            finish_out_channel_stride=1,
            finish_out_row_stride=0,
            finish_rows=1,
            finish_skipped_positions=0,
            finish_is_low_negative=is_low_negative,
            finish_low=low,
            finish_is_high_negative=is_high_negative,
            finish_high=high,
            finish_is_maximum=0,
        )

    def bind(self, n1, *steps):
        """Set n1 and the batches of A and W per step of n0 and n1; select driver and rare loop."""
        p = self.p
        p[_INNER_BATCHES] = n1
        for i in range(4):
            p[_X_OUTER_STRIDE + i] = steps[i]
        p[_W_ROW_STRIDE], p[_EXPONENT_OFFSET] = self.w_step, self.more
        self.products = forms.get("block_products").products
        ends = _MANTISSAS_X_START, _ALIGN_X_START, _DOTS_X_START, _FINISH_X_START, _ROWS_X_START
        calls = self.calls
        self.set_needs(calls.later("block_special", self.special), ends)
        self.needs += [self.peak, self.part(_PEAK_X_START, _MANTISSAS_X_START)]


class _Pair(Product):
    """A Product whose W is no constant: each batch of W is converted to mantissas at run time.

    Attributes:
        p: parameters of loops/block_rows.
    """

    special = "product_of_floats"

    def set_weights(self, w, has_bias):
        n, k = self.p[_CHANNELS], self.p[_COLUMNS]
        first = self.nelem + n
        rows_p = block(
            "block_rows.rows",
            x_start=0,
            rows=n,
            columns=k,
            out_start=first,
            exponent_start=self.nelem,
            flag_start=_FLAG,
            has_bias=has_bias,
        )
        flag_p = block("block.peak", x_start=_FLAG, peak_elements=1, peak_out_start=_FLAG_EXPONENT)
        self.p = p = words(*list(self.p), *list(rows_p), 0, 0, *list(flag_p), 0)
        p[_W_START], p[_EXPONENT_START] = first, 4 * self.nelem
        self.w_step = k
        self.bias = self.calls.place(w, "i")
        self.nelem += n + n * k
        p[_ALIGN_X_STRIDE] = has_bias * (k + 1)
        p[_ALIGN_W_STRIDE] = 4  # an exponent takes a word

    def bind(self, n1, a0, a1, w0, w1):
        Product.bind(self, n1, a0, a1, 0, 0)
        self.p[_FLOATS_OUTER_STRIDE], self.p[_FLOATS_INNER_STRIDE] = w0, w1
        loops = forms.get("block_rows")
        self.needs += [self.products, loops.rows, self.part(_ROWS_X_START, _FLOATS_OUTER_STRIDE)]
        self.needs.append(self.part(_FLAG_X_START, _FLAG_EXPONENT))
        self.products = loops.batches
