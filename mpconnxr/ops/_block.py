"""Weights and scratch that all kernels in block floating point share (see loops/block).

Constant weights are two or three tensors: mantissas (rows, K), the exponent of each row as uint8,
and optional biases as float32. Mantissas are int32 (24 bits), uint16 (16 bits), uint8 (8 bits) or
int8 (4 bits, two per byte; see loops/block_narrow). Short mantissas are uint32, two per word (see
loops/short_dot).
"""

from .. import forms

MAX_K = 0xFFFF  # elements of a row, a limit of loops/block_dot
NARROW = {"uint16": (16, "H"), "uint8": (8, "B"), "int8": (4, "B")}
INITS = 4  # start of the channels' initial sums in the scratch, behind exponents and flags [words]
CHUNK = 64  # channels of one call of block_gemm's loops
WORDS = (4, 3, 3)  # words of scratch: per initial sum, per sum, per row of x for its sum
SHORT_WORDS = (3, 1, 0)  # the same with short mantissas
MACS = 4  # multiply-accumulates that take as long as an element of other kernels


class Block:
    """The loops, parameters and scratch (int32) of products in block floating point.

    Attributes:
        w, exponents, bias: views of mantissas, exponents (bytes) and biases (int32; x if absent).
        scratch: from INITS on the initial sums of the channels, then sums, then mantissas of x.
        bits: of a weight's mantissa; 0 for short mantissas.
        w_step: elements from one row of weights to the next.
        more: what short mantissas add to the exponent of x.
        words: words of scratch per initial sum, per sum, and per row of x for its own sum.
    """

    bits, w_step = 24, 0
    more, words = 0, WORDS

    def __init__(self, calls, x, weights, out, scratch):
        self.calls, self.part = calls, calls.part
        self.x, self.out = calls.place(x, "i"), calls.place(out, "i")
        self.scratch = calls.place(scratch)
        self.w, self.exponents, bias = weights
        self.bias = self.x if bias is None else bias
        loops = forms.get("block")
        self.peak, self.mantissas, self.align = loops.peak, loops.mantissas, loops.align
        self.has_bias = int(bias is not None)

    def set_kind(self, w, k):
        """Select the loops for weights w with k elements per row. Call this method first."""
        if w.dtype == "uint32":
            self.bits, self.words, self.more = 0, SHORT_WORDS, 24 - short_bits(k)
            loops = forms.get("short")
            self.align, self.finish = loops.align, loops.finish
            self.dots = forms.get("short_dot").dots
        else:
            self.finish = forms.get("block_finish").finish
            self.dots = forms.get("block_dot").dots

    def set_weights_of(self, node, w, rows, k):
        """Use constant mantissas in their dtype.

        Raises ModelError if there are fewer than `rows` rows.
        """
        if not self.bits:
            self.w, self.w_step = self.calls.place(w, "H"), k + (k & 1)
            node.require(rows * self.w_step <= 2 * w.nelem, "weights size")
            return
        self.bits, self.w_step = row_of(node, w, rows, k)
        if self.bits < 24:
            self.w = self.calls.place(w, NARROW[w.dtype][1])
            self.dots = forms.get("block_narrow").dots

    def set_needs(self, special, ends):
        """Set the list of loops, views and blocks that the driver of loops/block_pieces takes.

        Args:
            special: rare loop for inf and NaN.
            ends: starts in p of the parameters of mantissas, align, dots and finish, then their
                end.
        """
        self.p[ends[3] - 1] = self.bits  # the last parameter of dots
        self.needs = [self.mantissas, self.align, self.dots, self.finish, special, self.part()]
        self.needs += [self.part(ends[i], ends[i + 1]) for i in range(4)]
        self.needs += [self.x, self.w, self.bias, self.exponents, self.scratch, self.out]


def product_places(n, k, words):
    """Return (channels per call, start of sums, start of the row, words of scratch) of a product.

    It is the product of rows of k elements with n channels. words: see Block.
    """
    of_channel, of_sum, of_x = words
    chunk = min(n, CHUNK)
    sums = INITS + of_channel * chunk
    row = sums + of_sum * chunk + of_x
    return chunk, sums, row, row + k


def shared_columns(positions, rows, kernel_columns, stride, dilation):
    """Return (True if positions share columns, columns per row of positions, skipped positions).

    Skipped positions lie between two rows and do not count. A row of shared columns ends at a
    multiple of the stride, so that the columns of the next row continue in step.
    """
    if not (dilation == 1 and stride < kernel_columns and rows * positions > 1):
        return False, positions * kernel_columns, 0
    n = -(-((positions - 1) * stride + kernel_columns) // stride)
    return True, n * stride, n - positions if rows > 1 else 0


def convolution_places(words, channels, positions, rows, skipped, nelem):
    """Return (start of sums, start of mantissas, words of scratch) of a convolution.

    Args:
        words: see Block.
        channels: channels whose sums are held at once.
        positions: positions of a row whose sums are held at once.
        rows: rows of positions.
        skipped: positions between two rows that do not count.
        nelem: mantissas of x held at once.
    """
    of_channel, of_sum, of_x = words
    sums = INITS + of_channel * channels
    band = sums + (of_sum * channels + of_x) * ((positions + skipped) * rows - skipped)
    return sums, band, band + nelem


def row_of(node, w, rows, k):
    """Return (bits of a weight, elements that hold a row of k weights).

    Raises ModelError if w has fewer than `rows` rows or another dtype.
    """
    bits, step = 24, k
    if w.dtype != "int32":
        node.require(w.dtype in NARROW, "dtype " + w.dtype)
        bits = NARROW[w.dtype][0]
        step = (k + 1) // 2 if bits == 4 else k
    node.require(rows * step <= w.nelem, "weights size")
    return bits, step


def short_bits(k):
    """Return the bits of a short mantissa of x, so that sums of k products fit."""
    bits = 15
    while k > 16:
        k = (k + 3) // 4
        bits -= 1
    return bits


def constants(node, calls, tensors, rows):
    """Return views of mantissas, exponents and biases; the last is None if there are no biases.

    Raises ModelError if there are fewer than `rows` exponents or biases.
    """
    w, exponents = tensors[:2]
    node.expect_dtype("uint8", exponents)
    node.require(rows <= exponents.nelem, "too few exponents")
    bias = None
    if len(tensors) > 2:
        node.expect_dtype("float32", tensors[2])
        node.require(rows <= tensors[2].nelem, "too few biases")
        bias = calls.place(tensors[2], "i")
    return calls.place(w), calls.place(exponents), bias


def limits(node, first):
    """Return [is_low_negative, low, is_high_negative, high] as loop finish takes them."""
    result = []
    for i in (first, first + 1):
        bits = node.params[i] & 0xFFFFFFFF
        result += [bits >> 31, bits & 0x7FFFFFFF]
    return result
